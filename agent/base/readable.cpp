#include "agent/base/readable.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>

namespace agent {
namespace {

constexpr std::uintptr_t kPage = 4096;  // the smallest page size

// Pages that were readable, two for each hash, so that the few pages of a loop do not push each other out. Page 0 is never readable.
constexpr std::size_t kPages = 4096;
constinit std::atomic<std::uintptr_t> s_readable_pages[kPages][2]{};

// The kernel reads the mask before it rejects the unknown operation with EINVAL. process_vm_readv(2) is not used because containers refuse it
// and sandboxes may kill the caller; rt_sigprocmask(2) is allowed everywhere.
bool is_readable_word(std::uintptr_t at) {
  constexpr int kNothing = -1;
  return syscall(SYS_rt_sigprocmask, kNothing, at, nullptr, sizeof(std::uint64_t)) < 0 && errno == EINVAL;
}

}  // namespace

bool is_readable(const void* at, std::size_t bytes) noexcept {
  const int error = errno;
  const auto first = reinterpret_cast<std::uintptr_t>(at) & ~std::uintptr_t{7};
  std::uintptr_t last = 0;
  bool readable = !__builtin_add_overflow(reinterpret_cast<std::uintptr_t>(at), bytes, &last);
  for (std::uintptr_t word = first; readable && word < last; word = (word & ~(kPage - 1)) + kPage) readable = is_readable_word(word);
  errno = error;
  return readable;
}

bool was_readable(const void* at, std::size_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  std::uintptr_t end = 0;
  if (begin < kPage || __builtin_add_overflow(begin, bytes, &end)) return false;
  for (std::uintptr_t page = begin / kPage; page * kPage < end; ++page) {
    auto& known = s_readable_pages[page % kPages];
    const std::uintptr_t newest = known[0].load(std::memory_order_relaxed);
    if (newest == page || known[1].load(std::memory_order_relaxed) == page) continue;
    if (!is_readable(reinterpret_cast<const void*>(std::max(begin, page * kPage)), 1)) return false;
    known[1].store(newest, std::memory_order_relaxed);
    known[0].store(page, std::memory_order_relaxed);
  }
  return true;
}

std::string_view readable_text(const char* text, std::size_t most) noexcept {
  std::size_t length = 0;
  while (length < most && was_readable(text + length, 1)) {
    const std::size_t left = kPage - reinterpret_cast<std::uintptr_t>(text + length) % kPage;
    const std::size_t bytes = std::min(left, most - length);
    if (const void* end = std::memchr(text + length, '\0', bytes)) return {text, static_cast<std::size_t>(static_cast<const char*>(end) - text)};
    length += bytes;
  }
  return {text, length};
}

}  // namespace agent
