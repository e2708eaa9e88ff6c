#include "agent/base/message.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "agent/base/agent_settings.h"
#include "agent/base/uncancelled.h"

namespace agent {
namespace {

dev_t s_device = 0;
ino_t s_inode = 0;
bool s_known = false;

bool stderr_is_the_same() {
  struct stat now;
  return s_known && fstat(2, &now) == 0 && now.st_dev == s_device && now.st_ino == s_inode;
}

// A reader of stderr that has gone raises SIGPIPE, which would kill a host that never wrote there itself.
void write_unharmed(const char* line, std::size_t size) {
  const Uncancelled uncancelled;
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  if (write(2, line, size) < 0 && errno == EPIPE && !was_pending) {
    const timespec now{};
    sigtimedwait(&pipe, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// A value from the environment must not make two lines of one, nor command the terminal.
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

void write_line(const char* format, va_list arguments) {
  char line[1024] = "tracetool: ";
  constexpr int kPrefix = 11;
  int length = vsnprintf(line + kPrefix, sizeof(line) - kPrefix - 1, format, arguments);
  if (length < 0 || !stderr_is_the_same()) return;
  length += kPrefix;
  if (length > static_cast<int>(sizeof(line)) - 2) length = sizeof(line) - 2;
  for (int i = kPrefix; i < length; ++i) line[i] = is_control(line[i]) ? '?' : line[i];
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
