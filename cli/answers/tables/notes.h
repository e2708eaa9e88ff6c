// Notes that several tables have.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/base/text.h"
#include "cli/trace/event.h"

namespace cli {

// The note of a table about ranges and calls without an end. They were never popped, or were open when the program ended.
inline void append_endless_note(std::vector<std::string>& notes, std::uint64_t count, std::string_view one) {
  if (count > 0) notes.push_back(count_text(count, one) + " had not ended when the trace ended; their host time is unknown");
}

// How many launches of a trace have no GPU work in it: profilers lose whole graphs, or all work, and then a GPU that looks
// idle may have been busy. Some launches run nothing (a copy of no bytes), so a few without work say nothing.
class LaunchesWithoutWork {
 public:
  explicit LaunchesWithoutWork(std::size_t processes) : has_work_(processes) {}

  // A launch has this place among the calls of its process (LaunchCalls), until another one takes it.
  void launch(ProcessId process, std::uint32_t place) {
    std::vector<bool>& has_work = has_work_[process];
    if (place >= has_work.size()) has_work.resize(place + std::size_t{1});
    has_work[place] = false;
    ++launches_;
  }
  void work(ProcessId process, std::uint32_t place) {
    std::vector<bool>& has_work = has_work_[process];
    if (place >= has_work.size() || has_work[place]) return;
    has_work[place] = true;
    ++with_work_;
  }

  // Call it after the process's last event.
  void forget(ProcessId process) { std::vector<bool>().swap(has_work_[process]); }

  // Work whose launch is not among the calls so far: it may begin before its launch, by clocks that differ a little.
  void work_without_launch() { ++early_work_; }

  bool are_many() const { return missing() * kFew > launches_; }
  // "80 of 84 launches have no GPU work in this trace"; "" if they are few.
  std::string text() const;

 private:
  std::uint64_t missing() const { return launches_ - std::min(launches_, with_work_ + early_work_); }

  static constexpr std::uint64_t kFew = 10;  // up to one in ten is few

  std::vector<std::vector<bool>> has_work_;  // by ProcessId and place
  std::uint64_t launches_ = 0, with_work_ = 0, early_work_ = 0;
};

}  // namespace cli
