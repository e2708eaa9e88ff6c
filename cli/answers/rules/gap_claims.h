// Assigns each moment of a device's idle time to one rule. Every rule over idle time gets its share from here, so that
// the savings of findings do not overlap. The first of these that applies claims a moment (causes come before their
// effects):
//
//   garbage_collection  Python's garbage collector ran before the host launched the next work (DeviceGap::collecting_ns)
//   allocation          the host was in a call that allocates or releases device memory
//   data_loading        the thread that launched the next work was in a range that loads data
// What blocked the host when the device went idle claims as much of the gap, from its start on, as it took: without it,
// the host would have launched that much earlier.
//   allocation          such a call
//   blocking_copy       a copy to the device
//   host_sync           another wait
// This part is unclaimed if the first three explain at least half of the gap: without them, the host would have
// launched soon after the wait. The rest is claimed by what the host did then:
//   blocking_copy       the time in the call of a copy to the device that blocks
//   launches            the causes launch and queued of device_gaps.h
//   host_late, unexplained   these causes
//
// Idle time between an optimizer's small kernels belongs to `optimizer` instead of launches and host_late. It goes back
// to these for ranks on which the optimizer is no finding.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/answers/tables/analysis.h"
#include "cli/answers/tables/device_gaps.h"
#include "cli/answers/tables/launch_ranges.h"
#include "cli/answers/tables/whole_steps.h"
#include "cli/base/text.h"
#include "cli/trace/event_times.h"
#include "cli/trace/names.h"

namespace cli::rules {

// Calls that allocate or release device memory after the first two steps. By then a caching allocator has all the
// memory that it needs.
class LateAllocations {
 public:
  struct Call {
    std::int64_t start_ns, end_ns;
  };

  explicit LateAllocations(const AnalysisContext& context)
      : context_(context), steps_(whole_steps(context).host()), names_(context.catalog.strings.size()) {}

  // Returns the call if it is such a call. A driver call inside a runtime call is the same call.
  std::optional<Call> event(const Event& event) {
    if (!is_api_call(event.kind) || !is_slice(event) || event.duration_ns <= 0 || !manages_memory(event.name))
      return std::nullopt;
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
  // Calls on_call for each such call that overlaps [from_ns, to_ns), by start. Calls of different threads may overlap.
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
  // Returns the length of the longest such call that runs at `ns`; 0 if there is none.
  std::int64_t call_ns(ProcessId id, std::int64_t ns) const {
    std::int64_t longest_ns = 0;
    each_within(id, ns, ns + 1,
                [&](const Call& call) { longest_ns = std::max(longest_ns, call.end_ns - call.start_ns); });
    return longest_ns;
  }

 private:
  static constexpr std::int64_t kFirstSteps = 2;  // steps in which allocations are expected
  static constexpr std::size_t kMostCalls = 4096;
  struct Process {
    std::deque<Call> calls;                  // calls that may overlap later idle time
    std::map<TrackId, std::int64_t> end_ns;  // of the newest call of each thread
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
  std::vector<std::uint8_t> names_;  // by StringId: 0 not checked, 1 no, 2 yes
  std::map<ProcessId, Process> processes_;
};

// Small kernels that an optimizer launches for one parameter each.
class OptimizerKernels {
 public:
  explicit OptimizerKernels(const AnalysisContext& context)
      : context_(context), ranges_(context), many_at_once_(context.catalog.strings.size()) {}
  static KindSet kinds() {
    return kinds_of({Kind::cpu_op, Kind::nvtx, Kind::user_annotation, Kind::runtime, Kind::driver});
  }

  void event(const Event& event) {
    if (!is_slice(event) || !kinds().test(static_cast<std::size_t>(event.kind))) return;
    ranges_.settle(event.start_ns, [&](const Event& call) { launch(call); });
    if (is_api_call(event.kind)) {
      if (event.correlation != 0) ranges_.call(event);
    } else if (is_optimizer_step(context_.catalog.strings[event.name])) {
      ranges_.open(event.track, {event.start_ns, slice_end(event, kLatest_ns), {}});
    }
  }
  bool has(const GpuWork& work) {
    ranges_.settle([&](const Event& call) { launch(call); });
    if (work.kind != Kind::kernel || work.work_class != WorkClass::compute || work.end_ns - work.start_ns >= kTiny_ns)
      return false;
    return ranges_.of(work) != nullptr && !is_many_at_once(work.name);
  }
  // See TraceObserver::end_of().
  void end_of(ProcessId process) {
    ranges_.end_of(process, [&](const Event& call) { launch(call); });
  }

 private:
  static constexpr std::int64_t kTiny_ns = 10'000;
  // Parts of the names of kernels that update many parameters at once: PyTorch's foreach and fused optimizers, apex,
  // compiled ones.
  static constexpr std::array<std::string_view, 4> kManyAtOnce{"multi_tensor", "foreach", "fused", "triton_"};
  struct InOptimizer {};

  static bool is_optimizer_step(std::string_view name) {
    return training_phase(name) == TrainingPhase::optimizer && name.find("zero_grad") == name.npos;
  }
  void launch(const Event& call) {
    if (!ranges_.open_at(call.track, call.start_ns).empty()) ranges_.launches(call, {});
  }
  bool is_many_at_once(StringId id) {
    if (id >= many_at_once_.size()) many_at_once_.resize(id + std::size_t{1});
    std::uint8_t& known = many_at_once_[id];
    if (known == 0) {
      std::string name(context_.catalog.strings[id]);
      std::transform(name.begin(), name.end(), name.begin(), [](char c) { return lower(c); });
      known = std::any_of(kManyAtOnce.begin(), kManyAtOnce.end(),
                          [&](std::string_view word) { return name.find(word) != name.npos; })
                  ? 2
                  : 1;
    }
    return known == 2;
  }

  const AnalysisContext& context_;
  LaunchRanges<InOptimizer, InOptimizer> ranges_;
  std::vector<std::uint8_t> many_at_once_;  // by StringId: 0 not checked, 1 no, 2 yes
};

// Recent activity of host threads: the operators, ranges, CUDA calls, garbage collections and Python functions that a
// thread was in. Memory: kMost ranges and kMost functions per thread, plus longer ones and those that load data.

// Returns true for ranges in which a program waits for its data: those of PyTorch's DataLoader, or with common names
// ("data_loading", "get_batch").
bool is_data_loading_name(std::string_view range);

class HostActivity {
 public:
  // Up to a few thousand launches can be queued on a GPU, and a PyTorch operator has about 8 ranges around its launch.
  // This is enough for twice as many.
  static constexpr std::size_t kMost = 16'384;

  explicit HostActivity(const Catalog& catalog)
      : catalog_(catalog), threads_(catalog.tracks.size()), loads_data_(catalog.strings.size()) {}

  // Kinds of the events to pass to event().
  static KindSet kinds();
  void event(const Event& event);
  // Frees the process's data. Do not query the process afterwards.
  void end_of(ProcessId process) {
    std::erase_if(known_threads_, [&](TrackId thread) {
      if (catalog_.tracks[thread].process != process) return false;
      threads_[thread].reset();
      return true;
    });
  }

  // Returns the outermost and the innermost activity, except steps: "in aten::item, in cudaMemcpyAsync", "in
  // cudaMalloc", "outside of all operators", or "host state unknown" if the trace has no operators or ranges of this
  // thread or those at `ns` have been dropped. The innermost Python function is added if it began in the innermost
  // range; with `around_ns`, a time with `ns` in its middle, the innermost function that took half of it. Excludes
  // activities that begin at `ns`.
  std::string text(TrackId thread, std::int64_t ns, std::int64_t around_ns = 0) const;
  // Returns how much of [from_ns, to_ns) the thread loaded data.
  std::int64_t loading_ns(TrackId thread, std::int64_t from_ns, std::int64_t to_ns) const;
  // Calls on_part(start, end) for the parts of [from_ns, to_ns) in which it did, disjoint and by start.
  template <typename OnPart>
  void each_loading(TrackId thread, std::int64_t from_ns, std::int64_t to_ns, OnPart&& on_part) const {
    if (!is_known(thread)) return;
    const std::deque<Range>& loads = threads_[thread]->loads;
    std::int64_t known_to_ns = from_ns;
    const auto after = std::partition_point(loads.begin(), loads.end(),
                                            [&](const Range& range) { return range.last_end_ns <= from_ns; });
    for (auto range = after; range != loads.end() && range->start_ns < to_ns; ++range) {
      const std::int64_t start_ns = std::max(range->start_ns, known_to_ns), end_ns = std::min(range->end_ns, to_ns);
      if (start_ns >= end_ns) continue;
      on_part(start_ns, end_ns);
      known_to_ns = end_ns;
    }
  }
  // Returns how many long ranges of a thread were examined so far. Tests use it to check that the time is linear.
  std::uint64_t looked_at(TrackId thread) const { return is_known(thread) ? threads_[thread]->ranges.looked_at : 0; }
  // Returns the newest range in which the thread loaded data.
  std::optional<StringId> loading(TrackId thread) const;

 private:
  struct Range {
    std::int64_t start_ns, end_ns;
    StringId name;
    std::int64_t first_end_ns = 0,
                 last_end_ns =
                     0;  // see cli/answers/tables/launch_ranges.h; only last_end_ns is kept for ranges that load data
  };
  // The newest ranges by start, and older ones that had not ended when the limit was reached.
  struct Newest {
    std::deque<Range> ranges;
    std::vector<Range> longer;
    std::uint64_t looked_at = 0;                  // number of ranges of `longer` examined so far
    std::int64_t forgotten_to_ns = kEarliest_ns;  // ranges before this time may be missing

    void add(const Range& range);
    // Calls each(range) for the ranges that contain the moment, by start.
    template <typename Each>
    void each_at(std::int64_t ns, Each&& each) const {
      const auto holds = [&](const Range& range) { return range.start_ns < ns && ns < range.end_ns; };
      for (const Range& range : longer) {
        if (holds(range)) each(range);
      }
      for (const Range& range : ranges) {
        if (range.start_ns >= ns) break;
        if (holds(range)) each(range);
      }
    }
  };
  struct Thread {
    Newest ranges, functions;
    std::deque<Range> loads;
    bool has_operators = false;  // or other ranges, apart from CUDA calls and garbage collections
  };
  bool loads_data(StringId name);
  bool is_known(TrackId thread) const { return thread < threads_.size() && threads_[thread] != nullptr; }

  const Catalog& catalog_;
  std::vector<std::unique_ptr<Thread>> threads_;  // by TrackId; null if it has no events or its process has ended
  std::vector<TrackId> known_threads_;            // threads with data
  std::vector<std::uint8_t> loads_data_;          // by StringId: 0 not checked, 1 no, 2 yes
};

// The causes that can claim idle time of a device (gap_claims.h).
enum class GapOwner : std::uint8_t {
  garbage_collection,
  allocation,
  data_loading,
  blocking_copy,
  host_sync,
  optimizer,
  launches,
  host_late,
  unexplained,
  count_
};
inline constexpr std::size_t kGapOwners = static_cast<std::size_t>(GapOwner::count_);

struct ClaimedGap;
class GapClaims;

// Returns true for a copy from host memory that is not pinned.
bool is_from_pageable(const GpuWork& work);

// The part of a gap, in one window, that belongs to one owner. Valid during Rule::claimed().
struct ClaimedGap {
  const DeviceGap& gap;
  GapOwner owner;
  // The part of the gap in the window, without the parts that another holder of the host explains
  std::int64_t from_ns, to_ns;
  std::int64_t ns;       // time of that part that belongs to the owner
  bool if_no_optimizer;  // counts only for ranks on which the optimizer is no finding
  const HostActivity& activity;
};

class GapClaims {
 public:
  explicit GapClaims(const AnalysisContext& context)
      : context_(context),
        activity_(context.catalog),
        names_(context.catalog.strings),
        allocations_(context),
        optimizers_(context) {}
  static ObserverNeeds needs() { return {.kinds = HostActivity::kinds(), .any_time = true, .gaps = true}; }

  void event(const Event& event);
  void work(const GpuWork& work);
  void end_of(ProcessId process);  // see TraceObserver::end_of()
  // Calls `on_claim` for each claim on the gap. Skips gaps without work after them. Skips gaps before the first work
  // unless steps are diagnosed, because then the step that launched the work began earlier.
  template <typename OnClaim>
  void gap(const DeviceGap& gap, OnClaim&& on_claim) {
    if (gap.next == nullptr || (gap.from_ns == kEarliest_ns && !context_.windows.are_steps())) return;
    const auto& windows = context_.windows.of(gap.process);
    for (std::size_t i = context_.windows.first_after(gap.process, gap.from_ns);
         i < windows.size() && windows[i].from_ns < gap.to_ns; ++i) {
      const std::int64_t from_ns = std::max(gap.from_ns, windows[i].from_ns),
                         to_ns = std::min(gap.to_ns, windows[i].to_ns);
      claim(gap, from_ns, to_ns);
      for (std::size_t owner = 0; owner < kGapOwners; ++owner) {
        for (const bool if_no_optimizer : {false, true}) {
          const std::int64_t ns = (if_no_optimizer ? without_optimizer_ns_ : ns_)[owner];
          const Span span = span_of(static_cast<GapOwner>(owner), from_ns, to_ns);
          if (ns > 0)
            on_claim(ClaimedGap{gap, static_cast<GapOwner>(owner), span.from_ns, span.to_ns, ns, if_no_optimizer,
                                activity_});
        }
      }
    }
  }
  // Returns true for a small kernel of an optimizer, launched for one parameter.
  bool is_optimizer_kernel(const GpuWork& work) { return optimizers_.has(work); }
  // Returns true for a copy to the device for which the host waits: from pageable memory, or by a blocking call.
  bool blocks_to_device(const GpuWork& work);
  // Host activity up to the newest event.
  const HostActivity& activity() const { return activity_; }

 private:
  using Times = std::array<std::int64_t, kGapOwners>;
  struct Span {
    std::int64_t from_ns, to_ns;
  };

  void claim(const DeviceGap& gap, std::int64_t from_ns, std::int64_t to_ns);
  void claim_span(GapOwner owner, std::int64_t from_ns, std::int64_t to_ns);
  // What blocked the host when the device went idle, and the end of the part of the gap that it explains.
  struct Holder {
    std::optional<GapOwner> owner;
    std::int64_t to_ns;
  };
  Holder holder_of(const DeviceGap& gap) const;
  // Returns where in a gap the owner's time lies.
  Span span_of(GapOwner owner, std::int64_t from_ns, std::int64_t to_ns) const;

  const AnalysisContext& context_;
  HostActivity activity_;
  NameClasses names_;
  LateAllocations allocations_;
  OptimizerKernels optimizers_;
  // By device: true if its newest work was such a kernel
  std::map<std::pair<ProcessId, std::int64_t>, bool> after_optimizer_;
  // State of the current gap.
  Times ns_{}, without_optimizer_ns_{};
  std::vector<Span> taken_;
  Holder holder_{};
};

}  // namespace cli::rules
