// What a host thread keeps between its records: its writer and the names it used last. Taken from a pool, given back
// when the thread ends, never freed.
#pragma once
#include <cstdint>
#include <string_view>

#include "agent/ring/interner.h"

namespace agent {

struct ThreadState {
  static constexpr std::size_t kNames = 32;
  // Names of the current block or of the region, by hash; verified against what stands in the file.
  struct Name {
    std::uint64_t hash;
    std::uint64_t ticket;  // of the block of a local reference; 0: in the region
    std::uint32_t ref;
    bool used;
  };

  // kNoRef where it is not known in a place that a record of the current block can refer to.
  std::uint32_t find_name(std::string_view text) const noexcept;
  void remember_name(std::string_view text, std::uint32_t ref) noexcept;

  Writer writer;
  Name names[kNames];
  ThreadState* next;  // in the pool
};

// This thread's state, or null where no memory or no thread-specific key is available.
ThreadState* thread_state() noexcept;

}  // namespace agent
