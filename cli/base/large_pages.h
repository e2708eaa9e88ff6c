// Makes the heap use large pages and keep freed memory for reuse. The first access to a page costs a page fault: with 4
// KiB pages, a tenth of the time of a command that reads a run. This is only advice to the system and the C library;
// everything works without it.
#pragma once
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace cli {

// glibc gives each thread except the first a heap in its own mapping, which is aligned to its size.
inline constexpr std::size_t kThreadHeapBytes = 64 << 20;

// Applies to the calling thread's heap, which is the first heap. Call it once at program start.
inline void use_large_pages() {
  // Address space, which takes no memory until it is used
  constexpr int kReserved = 256 << 20, kOfThread = kThreadHeapBytes / 2;
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_MMAP_THRESHOLD, kThreadHeapBytes / 2);  // the maximum that glibc accepts
  ::mallopt(M_TOP_PAD, kReserved);
  void* const begin = ::sbrk(0);
  void* volatile grown = std::malloc(1 << 20);  // more than what is left of the initial heap
  std::free(grown);
  const auto from = reinterpret_cast<std::uintptr_t>(begin), to = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t aligned = (from + page - 1) / page * page;
  if (aligned < to) ::madvise(reinterpret_cast<void*>(aligned), to - aligned, MADV_HUGEPAGE);
  ::mallopt(M_TOP_PAD, kOfThread);
}

// The same for another thread. Call it when the thread begins.
inline void use_large_pages_in_thread() {
  void* volatile first = std::malloc(1);
  const std::uintptr_t heap = reinterpret_cast<std::uintptr_t>(first) & ~(kThreadHeapBytes - 1);
  ::madvise(reinterpret_cast<void*>(heap), kThreadHeapBytes, MADV_HUGEPAGE);
  std::free(first);
}

}  // namespace cli
