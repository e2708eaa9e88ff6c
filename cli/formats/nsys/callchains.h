// Stacks of CUDA calls (nsys profile --cudabacktrace).
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "cli/formats/nsys/output.h"

namespace cli::nsys {

// The table CUDA_CALLCHAINS. It is read as a whole, sorted by SQLite, and keeps one number per chain in memory.
class Callchains {
 public:
  explicit Callchains(Output& output);
  // Returns the stack of a chain; 0 if it is unknown.
  StackId operator[](std::optional<std::int64_t> id) const;

 private:
  std::unordered_map<std::int64_t, StackId> stacks_;  // by id
};

}  // namespace cli::nsys
