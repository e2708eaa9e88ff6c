// Notes that several tables share.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/base/text.h"
#include "cli/trace/event.h"

namespace cli {

// Appends a note about ranges and calls without an end. They were never popped, or were still open when the program
// ended.
inline void append_endless_note(std::vector<std::string>& notes, std::uint64_t count, std::string_view one) {
  if (count > 0)
    notes.push_back(count_text(count, one) + " had not ended when the trace ended; their host time is unknown");
}

// Counts the launches without GPU work in the trace. Profilers lose whole graphs or all work, and a GPU that then looks
// idle may have been busy. A few launches without work are normal, because some run nothing (a copy of 0 bytes).
class LaunchesWithoutWork {
 public:
  explicit LaunchesWithoutWork(std::size_t processes) : has_work_(processes) {}

  // Registers a launch by its slot among the calls of its process (LaunchCalls), which it keeps until another call
  // takes it.
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

  // Registers work whose launch is not among the calls so far. Because clocks differ slightly, it may begin before its
  // launch.
  void work_without_launch() { ++early_work_; }

  bool are_many() const { return missing() * kFew > launches_; }
  // Returns, for example, "80 of 84 launches have no GPU work in this trace"; "" if there are only a few.
  std::string text() const;

 private:
  std::uint64_t missing() const { return launches_ - std::min(launches_, with_work_ + early_work_); }

  static constexpr std::uint64_t kFew = 10;  // up to one in ten counts as few

  std::vector<std::vector<bool>> has_work_;  // by ProcessId and slot
  std::uint64_t launches_ = 0, with_work_ = 0, early_work_ = 0;
};

}  // namespace cli
