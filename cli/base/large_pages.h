// Memory that is touched for the first time costs a fault for each of its pages: a tenth of the time of a command that reads a
// run, where pages have 4 KiB. So the heap asks the system for large ones, and keeps what is freed for what comes next. Only
// advice: where the system gives none, or the C library lays its heaps out in another way, all works as it would have.
#pragma once
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace cli {

// glibc gives each thread but the first a heap in a mapping of its own, which begins at a multiple of its size.
inline constexpr std::size_t kThreadHeapBytes = 64 << 20;

// Of the thread that calls it, from which the first heap grows: once, at the start of a program.
inline void use_large_pages() {
  constexpr int kReserved = 256 << 20, kOfThread = kThreadHeapBytes / 2;  // addresses, which take no memory until they are used
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_MMAP_THRESHOLD, kThreadHeapBytes / 2);  // the most that glibc takes
  ::mallopt(M_TOP_PAD, kReserved);
  void* const begin = ::sbrk(0);
  void* volatile grown = std::malloc(1 << 20);  // more than is left of what it began with
  std::free(grown);
  const auto from = reinterpret_cast<std::uintptr_t>(begin), to = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t aligned = (from + page - 1) / page * page;
  if (aligned < to) ::madvise(reinterpret_cast<void*>(aligned), to - aligned, MADV_HUGEPAGE);
  ::mallopt(M_TOP_PAD, kOfThread);
}

// The same of another thread, when it begins.
inline void use_large_pages_in_thread() {
  void* volatile first = std::malloc(1);
  const std::uintptr_t heap = reinterpret_cast<std::uintptr_t>(first) & ~(kThreadHeapBytes - 1);
  ::madvise(reinterpret_cast<void*>(heap), kThreadHeapBytes, MADV_HUGEPAGE);
  std::free(first);
}

}  // namespace cli
