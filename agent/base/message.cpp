#include "agent/base/message.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "agent/base/agent_settings.h"
#include "agent/base/guard.h"
#include "common/utf8.h"

namespace agent {
namespace {

dev_t s_device = 0;
ino_t s_inode = 0;
bool s_known = false;

void write_unharmed(const char* line, std::size_t size) {
  const Uncancelled uncancelled;
  sigset_t both, before, pending, raised;
  sigemptyset(&both);
  sigaddset(&both, SIGPIPE);
  sigaddset(&both, SIGXFSZ);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &both, &before);
  const int error = write(2, line, size) < 0 ? errno : 0;
  // SIGPIPE if the reader of stderr is gone, SIGXFSZ if its file is at the size limit (ulimit -f). The signal would
  // kill a host that never wrote to stderr itself.
  const int signal = error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
  if (signal != 0 && sigismember(&pending, signal) == 0) {
    const timespec now{};
    sigemptyset(&raised);
    sigaddset(&raised, signal);
    sigtimedwait(&raised, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Returns the length of the character at `at`, or 0 if it must not be printed: values from the environment and paths could start another line,
// control the terminal or change the text direction.
std::size_t printable_length(const char* at, std::size_t left) {
  const auto byte = static_cast<unsigned char>(*at);
  if (byte < 0x80) return byte < 0x20 || byte == 0x7f ? 0 : 1;
  const auto* bytes = reinterpret_cast<const unsigned char*>(at);
  const std::size_t length = trace::utf8_length(bytes, left);
  return trace::misleading_code_point(bytes, length) != 0 ? 0 : length;
}

void make_printable(char* text, std::size_t size) {
  for (std::size_t i = 0; i < size;) {
    const std::size_t length = printable_length(text + i, size - i);
    if (length == 0) text[i] = '?';
    i += length > 0 ? length : 1;
  }
}

void write_line(const char* format, va_list arguments) {
  char line[1024] = "tracetool: ";
  constexpr int kPrefix = 11;
  int length = vsnprintf(line + kPrefix, sizeof(line) - kPrefix - 1, format, arguments);
  struct stat now;
  const bool is_the_same = s_known && fstat(2, &now) == 0 && now.st_dev == s_device && now.st_ino == s_inode;
  if (length < 0 || !is_the_same) return;
  length += kPrefix;
  if (length > static_cast<int>(sizeof(line)) - 2) length = sizeof(line) - 2;
  make_printable(line + kPrefix, static_cast<std::size_t>(length - kPrefix));
  line[length] = '\n';
  write_unharmed(line, static_cast<std::size_t>(length) + 1);
}

}  // namespace

void remember_stderr() noexcept {
  struct stat now;
  s_known = fstat(2, &now) == 0;
  if (!s_known) return;
  s_device = now.st_dev;
  s_inode = now.st_ino;
}

void say(const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
}

void say_verbose(const char* format, ...) noexcept {
  if (!settings().verbose) return;
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
}

}  // namespace agent
