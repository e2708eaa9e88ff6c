// Calls that allocate or release device memory in steps after the first two, when a caching allocator has all that it needs.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "cli/answers/tables/analysis.h"
#include "cli/answers/tables/whole_steps.h"
#include "cli/trace/names.h"
#include "cli/trace/event_times.h"

namespace cli {

class LateAllocations {
 public:
  struct Call {
    std::int64_t start_ns, end_ns;
  };

  explicit LateAllocations(const AnalysisContext& context) : context_(context), steps_(whole_steps(context).host()), names_(context.catalog.strings.size()) {}

  // Returns the call if it is one; a driver call inside a runtime call is the same one.
  std::optional<Call> event(const Event& event) {
    if (!is_api_call(event.kind) || !is_slice(event) || event.duration_ns <= 0 || !manages_memory(event.name)) return std::nullopt;
    const ProcessId id = context_.catalog.tracks[event.track].process;
    if (!is_late(id, event.start_ns)) return std::nullopt;
    Process& process = processes_[id];
    const Call call{event.start_ns, slice_end(event, kLatest_ns)};
    std::int64_t& last_end_ns = process.end_ns.try_emplace(event.track, kEarliest_ns).first->second;
    if (call.start_ns < last_end_ns) return std::nullopt;
    last_end_ns = call.end_ns;
    process.calls.push_back(call);
    if (process.calls.size() > kMostCalls) process.calls.pop_front();
    return call;
  }
  // Do not query the process afterwards.
  void end_of(ProcessId process) { processes_.erase(process); }
  // Calls on_call with each such call that runs in [from_ns, to_ns), by start. They may overlap, as those of different threads.
  template <typename OnCall>
  void each_within(ProcessId id, std::int64_t from_ns, std::int64_t to_ns, OnCall&& on_call) const {
    const auto found = processes_.find(id);
    if (found == processes_.end()) return;
    const std::deque<Call>& calls = found->second.calls;
    auto at = calls.end();
    while (at != calls.begin() && std::prev(at)->end_ns > from_ns) --at;
    for (; at != calls.end() && at->start_ns < to_ns; ++at) {
      if (at->end_ns > from_ns) on_call(*at);
    }
  }
  // Returns the length of the longest such call that runs at that time; 0 if there is none.
  std::int64_t call_ns(ProcessId id, std::int64_t ns) const {
    std::int64_t longest_ns = 0;
    each_within(id, ns, ns + 1, [&](const Call& call) { longest_ns = std::max(longest_ns, call.end_ns - call.start_ns); });
    return longest_ns;
  }

 private:
  static constexpr std::int64_t kFirstSteps = 2;  // in which memory is allocated
  static constexpr std::size_t kMostCalls = 4096;
  struct Process {
    std::deque<Call> calls;                  // that idle time to come may lie in
    std::map<TrackId, std::int64_t> end_ns;  // of the newest of each thread
  };

  bool manages_memory(StringId name) {
    if (name >= names_.size()) names_.resize(name + std::size_t{1});
    const std::string_view text = context_.catalog.strings[name];
    if (names_[name] == 0) names_[name] = is_allocation_name(text) || is_release_name(text) ? 2 : 1;
    return names_[name] == 2;
  }
  bool is_late(ProcessId process, std::int64_t ns) const {
    const auto step = steps_.at(process, ns);
    return step && steps_.of(process)[*step].step.value_or(0) >= kFirstSteps;
  }

  const AnalysisContext& context_;
  const Windows steps_;
  std::vector<std::uint8_t> names_;  // by StringId: 0 not asked, 1 no, 2 yes
  std::map<ProcessId, Process> processes_;
};

}  // namespace cli
