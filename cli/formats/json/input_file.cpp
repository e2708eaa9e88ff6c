#include "cli/formats/json/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cli/base/error.h"

namespace cli {

namespace {

const char* next_step(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
      return "; raise the open file limit (ulimit -n)";
    case EISDIR:
      return "; give the files in it";
    case ENOENT:
    case EACCES:
    case EPERM:
      return "; check the path and its permissions";
    default:
      return "; copy the file again, or omit it";
  }
}

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  throw Error(Exit::cannot_open, path + ": cannot " + what + ": " + std::strerror(error) + next_step(error));
}

}  // namespace

PlainFile::PlainFile(const std::string& path) : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) fail(path, "open", errno);
  struct stat status {};
  if (::fstat(fd_, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(fd_);
    fail(path, "read as a trace", EISDIR);
  }
}

PlainFile::~PlainFile() { ::close(fd_); }

std::size_t PlainFile::read(char* out, std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(fd_, out, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) fail(path_, "read", errno);
  }
}

std::string PlainFile::peek(std::size_t size) const {
  std::string bytes(size, '\0');
  const ssize_t got = ::pread(fd_, bytes.data(), size, 0);
  if (got < 0) fail(path_, "read", errno);
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

namespace {

[[noreturn]] void fail_stdin(const std::string& what) {
  throw Error(Exit::cannot_open, "standard input: cannot " + what + ": " + std::strerror(errno));
}

int unlinked_file() {
  const char* directory = std::getenv("TMPDIR");
  std::string name = std::string(directory != nullptr && *directory != '\0' ? directory : "/tmp") + "/tracetool-stdin-XXXXXX";
  const int fd = ::mkstemp(name.data());
  if (fd < 0) fail_stdin("create a file for it at " + name + " (set TMPDIR to a directory with enough space)");
  ::unlink(name.c_str());
  return fd;
}

void write_all(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(fd, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_stdin("copy it to a file (set TMPDIR to a directory with enough space)");
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

void copy_stdin(int to) {
  std::vector<char> bytes(1 << 20);
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got == 0) return;
    if (got > 0)
      write_all(to, bytes.data(), static_cast<std::size_t>(got));
    else if (errno != EINTR)
      fail_stdin("read it");
  }
}

}  // namespace

std::string stdin_as_file() {
  struct stat status {};
  if (::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode)) return "/proc/self/fd/0";
  static const int copy = [] {
    const int fd = unlinked_file();
    copy_stdin(fd);
    return fd;
  }();
  return "/proc/self/fd/" + std::to_string(copy);
}

std::string with_stdin_named(std::string message) {
  const std::string path = stdin_as_file();
  for (std::size_t at = 0; (at = message.find(path, at)) != message.npos;) message.replace(at, path.size(), kStdinName);
  return message;
}

}  // namespace cli
