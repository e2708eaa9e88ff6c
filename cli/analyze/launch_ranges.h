// Which of the ranges that a host thread was in launched a piece of GPU work: those that were open on the thread of the call
// that launched it, when that call began. What tables of operators and of ranges join GPU work to the host by.
//
// Ranges and calls come in the order of time. Of those that start together all ranges count, whichever came first. Of calls
// that launched, the newest are kept (launch_calls.h), and with them what is said of them here.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cli/model/catalog.h"
#include "cli/model/event.h"
#include "cli/model/launch_calls.h"
#include "cli/model/slice.h"

namespace cli {

// `Range`: what is known of one that is open. `Launcher`: what is kept of a call, for its work.
template <typename Range, typename Launcher>
class LaunchRanges {
 public:
  struct Open {
    std::int64_t start_ns = 0, end_ns = 0;  // kLatest_ns: the end is not known
    Range range;
  };

  explicit LaunchRanges(const Catalog& catalog) : catalog_(catalog), threads_(catalog.tracks.size()), calls_(catalog), launchers_(catalog.processes.size()) {}

  // The ranges of a thread that are open at this time, by their start; the others are forgotten. Times only ascend.
  const std::vector<Open>& open_at(TrackId thread, std::int64_t at_ns) {
    std::vector<Open>& open = threads_[thread];
    std::erase_if(open, [&](const Open& each) { return each.end_ns <= at_ns; });
    return open;
  }
  void open(TrackId thread, Open range) { threads_[thread].push_back(std::move(range)); }

  // A call to be handed on to settle()'s `on_call`, when all ranges that start with it have come.
  void call(const Event& event) { waiting_.push_back(event); }
  // Before each range and call of this start; before GPU work, of any.
  template <typename OnCall>
  void settle(std::int64_t start_ns, OnCall&& on_call) {
    if (!waiting_.empty() && waiting_.front().start_ns != start_ns) settle(on_call);
  }
  template <typename OnCall>
  void settle(OnCall&& on_call) {
    for (const Event& event : waiting_) on_call(event);
    waiting_.clear();
  }

  // From on_call: what launches by it. Of calls within each other with one correlation the outermost counts.
  void launches(const Event& call, Launcher launcher) {
    if (call.correlation == 0) return;
    const ProcessId process = catalog_.tracks[call.track].process;
    const auto place = calls_.add(process, call);
    if (!place) return;
    std::vector<Launcher>& launchers = launchers_[process];
    if (*place >= launchers.size()) launchers.resize(*place + std::size_t{1});
    launchers[*place] = std::move(launcher);
  }
  // Of GPU work; null: no call is known that launched it.
  Launcher* of(ProcessId process, std::uint64_t correlation) {
    const auto place = calls_.place_of(process, correlation);
    return place ? &launchers_[process][*place] : nullptr;
  }

  // Nothing more of this process comes.
  void forget(ProcessId process) {
    calls_.forget(process);
    launchers_[process] = {};
  }
  void forget_all() {
    for (auto& open : threads_) open.clear();
    for (auto& launchers : launchers_) launchers.clear();
  }

 private:
  const Catalog& catalog_;
  std::vector<std::vector<Open>> threads_;  // by TrackId
  LaunchCalls calls_;
  std::vector<std::vector<Launcher>> launchers_;  // by process, and place in calls_
  std::vector<Event> waiting_;                    // of one start
};

}  // namespace cli
