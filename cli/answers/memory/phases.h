// The peak memory in use in each part of the training steps.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cli/answers/memory/categories.h"

namespace cli::memory {

struct PhasePeak {
  Part part = Part::unknown;
  std::uint64_t bytes = 0;
  std::size_t state = 0;                     // the first state with the peak
  std::int64_t time_us = snapshot::kNoTime;  // of the entry that led to it
  std::size_t occurrences = 0;               // number of times that the part occurs
};

// Returns the parts that occur, in the order forward, backward, optimizer, setup, unknown. unknown is the time before
// the first known part. Returns an empty list if the history has fewer than two known parts, such as that of a profile
// without Python functions.
std::vector<PhasePeak> phase_peaks(const snapshot::Snapshot& snapshot, std::int64_t device);

}  // namespace cli::memory
