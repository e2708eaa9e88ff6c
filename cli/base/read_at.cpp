#include "cli/base/read_at.h"

#include <unistd.h>

#include <cerrno>

namespace cli {

std::size_t read_at(int fd, void* to, std::size_t bytes, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < bytes) {
    errno = 0;
    const ssize_t got = ::pread(fd, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace cli
