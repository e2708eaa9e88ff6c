// What is known of the calls that launch GPU work, by process and correlation: whether the call is in the trace, in a
// chosen step, and kept. Filled by one walk, asked in the next.
//
// Memory: about 60 bytes for each run of 64 neighbouring correlations, so one byte a call with CUPTI's dense ids.
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "cli/trace/event.h"

namespace cli {

class LaunchTable {
 public:
  struct Launch {
    bool known = false;
    bool in_step = false;
    bool kept = false;
  };
  // Several calls of one correlation (a runtime call and the driver call within it) are one launch.
  void note(ProcessId process, std::uint64_t correlation, bool in_step, bool kept);
  Launch find(ProcessId process, std::uint64_t correlation) const;

 private:
  struct Key {
    std::uint64_t high;  // correlation / 64
    ProcessId process;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Bits {
    std::uint64_t known = 0, in_step = 0, kept = 0;
  };
  std::unordered_map<Key, Bits, Hash> runs_;
};

}  // namespace cli
