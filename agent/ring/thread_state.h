// The state of a host thread between its records: its writer, and its latest names and frames. It comes from a pool,
// returns there when the thread ends, and is never freed. Memory that a thread does not use is not touched.
#pragma once
#include <cstdint>
#include <string_view>

#include "agent/ring/interner.h"

namespace agent {

struct ThreadState {
  // A training step of PyTorch repeats some hundred names of operators, lists of inputs and stacks.
  static constexpr std::size_t kWays = 4, kSets = 256;
  // Names of the current block or of the region, by hash; verified against the file.
  struct Name {
    std::uint64_t hash;
    std::uint64_t ticket;  // of the block of a local reference; 0 if in the region
    std::uint32_t ref;
    bool used;
  };

  // Returns kNoRef if the name is not known, or not where a record of the current block can refer to it.
  std::uint32_t find_name(std::string_view text) const noexcept;
  void remember_name(std::string_view text, std::uint32_t ref) noexcept;

  Writer writer;
  ThreadState* next;  // in the pool
  RecentFrames frames;
  Name names[kSets * kWays];  // newest of a set first
};

// Returns this thread's state, or null if no memory or no thread-specific key is available.
ThreadState* thread_state() noexcept;

}  // namespace agent
