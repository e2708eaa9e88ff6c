#include "agent/base/readable.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace agent {
namespace {

// The kernel reads the mask before it rejects the unknown operation with EINVAL. process_vm_readv(2) is not used because containers refuse it
// and sandboxes may kill the caller; rt_sigprocmask(2) is allowed everywhere.
bool is_readable_word(std::uintptr_t at) {
  constexpr int kNothing = -1;
  return syscall(SYS_rt_sigprocmask, kNothing, at, nullptr, sizeof(std::uint64_t)) < 0 && errno == EINVAL;
}

}  // namespace

bool is_readable(const void* at, std::size_t bytes) noexcept {
  constexpr std::uintptr_t kPage = 4096;  // the smallest page size
  const int error = errno;
  const auto first = reinterpret_cast<std::uintptr_t>(at) & ~std::uintptr_t{7};
  std::uintptr_t last = 0;
  bool readable = !__builtin_add_overflow(reinterpret_cast<std::uintptr_t>(at), bytes, &last);
  for (std::uintptr_t word = first; readable && word < last; word = (word & ~(kPage - 1)) + kPage) readable = is_readable_word(word);
  errno = error;
  return readable;
}

}  // namespace agent
