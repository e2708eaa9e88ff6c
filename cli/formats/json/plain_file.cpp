#include "cli/formats/json/plain_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/trace/error.h"

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

}  // namespace cli
