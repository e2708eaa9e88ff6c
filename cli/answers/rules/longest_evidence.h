// The longest times of each rank that a rule may show, while it goes through the trace.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/answers/rules/rule.h"

namespace cli {

class LongestEvidence {
 public:
  // By the clock of the rule's context, `ns` of it the rule's. `what` gives the text, and is asked only where that is among the longest so far.
  template <typename What>
  void add(ProcessId process, std::int64_t start_ns, std::int64_t end_ns, std::int64_t ns, What&& what) {
    std::vector<Time>& times = times_[process];
    if (times.size() == kMostEvidence && times.back().ns >= ns) return;
    const auto at = std::find_if(times.begin(), times.end(), [&](const Time& each) { return each.ns < ns; });
    times.insert(at, {start_ns, end_ns, ns, what()});
    if (times.size() > kMostEvidence) times.pop_back();
  }

  // Adds those of the processes for which `chosen` says so.
  void take(LongestEvidence&& other, const std::vector<bool>& chosen) {
    for (auto& [id, times] : other.times_) {
      if (!chosen[id]) continue;
      for (Time& time : times) add(id, time.start_ns, time.end_ns, time.ns, [&] { return std::move(time.what); });
    }
  }

  // Of these processes, the longest first; of equal ones the first.
  std::vector<Evidence> of(const DiagnosisScope& scope, const std::vector<ProcessId>& processes) const {
    std::vector<std::tuple<std::int64_t, std::int64_t, ProcessId, const Time*>> all;
    for (const ProcessId id : processes) {
      const auto found = times_.find(id);
      if (found == times_.end()) continue;
      for (const Time& time : found->second) all.push_back({-time.ns, scope.since_start(id, time.start_ns), id, &time});
    }
    std::sort(all.begin(), all.end());
    std::vector<Evidence> evidence;
    for (const auto& [ns, start_ns, id, time] : all) {
      if (evidence.size() < kMostEvidence) evidence.push_back({scope.rank(id), start_ns, scope.since_start(id, time->end_ns), time->what});
    }
    return evidence;
  }

 private:
  struct Time {
    std::int64_t start_ns, end_ns, ns;
    std::string what;
  };
  std::map<ProcessId, std::vector<Time>> times_;  // the longest first
};

}  // namespace cli
