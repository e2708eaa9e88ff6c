// Assigns each moment of a device's idle time to one rule. Every rule over idle time gets its share from here, so that
// the savings of findings do not overlap. The first of these that applies claims a moment (causes come before their
// effects):
//
//   garbage_collection  Python's garbage collector ran before the host launched the next work (DeviceGap::collecting_ns)
//   allocation          the host was in a call that allocates or releases device memory
//   cache_release       such a call, by which PyTorch's allocator emptied its cache (late_allocations.h)
//   data_loading        the thread that launched the next work was in a range that loads data
// What blocked the host when the device went idle claims as much of the gap, from its start on, as it took: without it,
// the host would have launched that much earlier.
//   allocation, cache_release   such a call
//   blocking_copy       a copy to the device
//   host_sync           another wait
// This part is unclaimed if the first four explain at least half of the gap: without them, the host would have
// launched soon after the wait. The rest is claimed by what the host did then:
//   blocking_copy       the time in the call of a copy to the device that blocks
//   launches            the causes launch and queued of device_gaps.h
//   host_late, unexplained   these causes
//
// Idle time between an optimizer's small kernels belongs to `optimizer` instead of launches and host_late. It goes back
// to these for ranks on which the optimizer is no finding.
#pragma once
#include <cctype>
#include <iterator>

#include "cli/answers/rules/late_allocations.h"
#include "cli/answers/tables/device_gaps.h"
#include "cli/answers/tables/launch_ranges.h"
#include "cli/answers/tables/whole_steps.h"
#include "cli/base/text.h"
#include "cli/timeline/select/step_name.h"

namespace cli::rules {

// Small kernels that an optimizer launches for one parameter each.
class OptimizerKernels {
 public:
  explicit OptimizerKernels(const AnalysisContext& context) : context_(context), ranges_(context) {}
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
    return many_at_once_.is(context_.catalog.strings, id, [](std::string_view text) {
      std::string name(text);
      std::transform(name.begin(), name.end(), name.begin(), lower);
      return std::ranges::any_of(kManyAtOnce, [&](auto word) { return name.find(word) != name.npos; });
    });
  }

  const AnalysisContext& context_;
  LaunchRanges<InOptimizer, InOptimizer> ranges_;
  NameAnswers many_at_once_;
};

// Recent activity of host threads: the operators, ranges, CUDA calls, garbage collections and Python functions that a
// thread was in. Memory: kMost ranges and kMost functions per thread, plus longer ones and those that load data.

// Returns true for ranges in which a program waits for its data: those of PyTorch's DataLoader, or with common names
// ("data_loading", "get_batch").
inline bool is_data_loading_name(std::string_view range) {
  static constexpr std::array<std::string_view, 7> kWords{"dataloader", "dataloading", "loaddata",      "getbatch",
                                                          "loadbatch",  "nextbatch",   "batchgenerator"};
  std::string plain;
  for (const char c : range) {
    if (c != '_' && c != '-' && c != ' ') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return std::ranges::any_of(kWords, [&](std::string_view word) { return plain.find(word) != plain.npos; });
}

class HostActivity {
 public:
  // Up to a few thousand launches can be queued on a GPU, and a PyTorch operator has about 8 ranges around its launch.
  // This is enough for twice as many.
  static constexpr std::size_t kMost = 16'384;

  explicit HostActivity(const Catalog& catalog) : catalog_(catalog), threads_(catalog.tracks.size()) {}

  // Kinds of the events to pass to event().
  static KindSet kinds() {
    return kinds_of({Kind::runtime, Kind::driver, Kind::cpu_op, Kind::user_annotation, Kind::nvtx,
                     Kind::garbage_collection, Kind::python_function});
  }
  void event(const Event& event) {
    if (!is_slice(event) || catalog_.tracks[event.track].kind != TrackKind::thread) return;
    if (event.track >= threads_.size()) threads_.resize(event.track + std::size_t{1});
    if (!threads_[event.track]) {
      threads_[event.track] = std::make_unique<Thread>();
      known_threads_.push_back(event.track);
    }
    Thread& thread = *threads_[event.track];
    Range range{event.start_ns, slice_end(event, kLatest_ns), event.name};
    if (event.kind == Kind::python_function) return thread.functions.add(range);
    thread.ranges.add(range);
    if (is_api_call(event.kind) || event.kind == Kind::garbage_collection) return;
    thread.has_operators = true;
    if (!loads_data_.is(catalog_.strings, event.name, is_data_loading_name)) return;
    range.last_end_ns = std::max(range.end_ns, thread.loads.empty() ? range.end_ns : thread.loads.back().last_end_ns);
    thread.loads.push_back(range);
    if (thread.loads.size() > kMost) thread.loads.pop_front();
  }
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
  std::string text(TrackId thread, std::int64_t ns, std::int64_t around_ns = 0) const {
    const std::string_view unknown = "host state unknown";
    if (!is_known(thread)) return std::string(unknown);
    const Thread& known = *threads_[thread];
    const Range *inner = nullptr, *outer = nullptr, *function = nullptr;
    known.ranges.each_at(ns, [&](const Range& range) {
      if (step_name(catalog_.strings[range.name])) return;
      if (outer == nullptr) outer = &range;
      inner = &range;
    });
    known.functions.each_at(ns, [&](const Range& range) {
      const std::int64_t within_ns =
          std::min(range.end_ns, ns + around_ns / 2) - std::max(range.start_ns, ns - around_ns / 2);
      if (2 * within_ns >= around_ns) function = &range;
    });
    if (function != nullptr && (inner == nullptr || inner->start_ns <= function->start_ns)) inner = function;
    if (outer == nullptr) outer = inner;
    if (outer == nullptr)
      return std::string(known.has_operators && ns >= known.ranges.forgotten_to_ns ? "outside of all operators"
                                                                                   : unknown);
    const auto name = [&](const Range& range) { return "in " + std::string(catalog_.strings[range.name]); };
    return inner == outer ? name(*outer) : name(*outer) + ", " + name(*inner);
  }
  // Calls on_part(start, end) for the parts of [from_ns, to_ns) in which the thread loaded data, disjoint and by start.
  template <typename OnPart>
  void each_loading(TrackId thread, std::int64_t from_ns, std::int64_t to_ns, OnPart&& on_part) const {
    if (!is_known(thread)) return;
    const std::deque<Range>& loads = threads_[thread]->loads;
    std::int64_t known_to_ns = from_ns;
    const auto after = std::ranges::upper_bound(loads, from_ns, {}, &Range::last_end_ns);
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
  std::optional<StringId> loading(TrackId thread) const {
    if (!is_known(thread) || threads_[thread]->loads.empty()) return std::nullopt;
    return threads_[thread]->loads.back().name;
  }

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

    void add(const Range& range) {
      ranges.push_back(range);
      if (ranges.size() <= kMost) return;
      const Range& oldest = ranges.front();
      const std::int64_t now_ns = ranges[1].start_ns;
      looked_at += drop_ended(longer, now_ns,
                              [&](const Range& each) { forgotten_to_ns = std::max(forgotten_to_ns, each.end_ns); });
      if (oldest.end_ns > now_ns && longer.size() < kMost) {
        add_open(longer, oldest);
      } else {
        forgotten_to_ns = std::max(forgotten_to_ns, oldest.end_ns);
      }
      ranges.pop_front();
    }
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
  bool is_known(TrackId thread) const { return thread < threads_.size() && threads_[thread] != nullptr; }

  const Catalog& catalog_;
  std::vector<std::unique_ptr<Thread>> threads_;  // by TrackId; null if it has no events or its process has ended
  std::vector<TrackId> known_threads_;            // threads with data
  NameAnswers loads_data_;
};

// The causes that can claim idle time of a device (gap_claims.h).
enum class GapOwner : std::uint8_t {
  garbage_collection,
  allocation,
  cache_release,
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

// Returns true for a copy from host memory that is not pinned.
inline bool is_from_pageable(const GpuWork& work) {
  const auto* copy = work.facts->get<CopyFacts>();
  return copy != nullptr && copy->from_memory == kPageableMemory;
}
// Returns true for a copy to the device for which the host waits: from pageable memory, or by a blocking call.
inline bool blocks_to_device(const GpuWork& work, NameClasses& names) {
  if (work.kind != Kind::memcpy || names[work.name].copy != DerivedTrack::copy_h2d) return false;
  return is_from_pageable(work) ||
         (work.call != nullptr && !names[work.call->name].is_async && !names[work.call->name].launches_graph);
}

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

  // Processes an event. Returns the result of LateAllocations::event().
  std::optional<AllocationCalls> event(const Event& event, const Facts& facts) {
    activity_.event(event);
    optimizers_.event(event);
    return allocations_.event(event, facts);
  }
  void work(const GpuWork& work) { after_optimizer_[{work.process, work.device}] = optimizers_.has(work); }
  // See TraceObserver::end_of().
  void end_of(ProcessId process) {
    activity_.end_of(process);
    allocations_.end_of(process);
    optimizers_.end_of(process);
    after_optimizer_.erase(after_optimizer_.lower_bound({process, INT64_MIN}),
                           after_optimizer_.lower_bound({process + 1, INT64_MIN}));
  }
  // Calls `on_claim` for each claim on the gap. Skips gaps without work after them. Skips gaps before the first work
  // unless steps are diagnosed, because then the step that launched the work began earlier.
  template <typename OnClaim>
  void gap(const DeviceGap& gap, OnClaim&& on_claim) {
    if (gap.next == nullptr || (gap.from_ns == kEarliest_ns && !context_.windows.are_steps())) return;
    context_.windows.each_part(gap.process, gap.from_ns, gap.to_ns,
                               [&](std::size_t, std::int64_t from_ns, std::int64_t to_ns) {
                                 if (from_ns == gap.to_ns) return;
                                 claim(gap, from_ns, to_ns);
                                 for (std::size_t owner = 0; owner < kGapOwners; ++owner) {
                                   for (const bool if_no_optimizer : {false, true}) {
                                     const std::int64_t ns = (if_no_optimizer ? without_optimizer_ns_ : ns_)[owner];
                                     const Span span = span_of(static_cast<GapOwner>(owner), from_ns, to_ns);
                                     if (ns > 0)
                                       on_claim(ClaimedGap{gap, static_cast<GapOwner>(owner), span.from_ns, span.to_ns,
                                                           ns, if_no_optimizer, activity_});
                                   }
                                 }
                               });
  }
  // Returns true for a small kernel of an optimizer, launched for one parameter.
  bool is_optimizer_kernel(const GpuWork& work) { return optimizers_.has(work); }
  bool blocks_to_device(const GpuWork& work) { return rules::blocks_to_device(work, names_); }
  LateAllocations& allocations() { return allocations_; }
  // Host activity up to the newest event.
  const HostActivity& activity() const { return activity_; }

 private:
  using Times = std::array<std::int64_t, kGapOwners>;
  // Owners of the parts that remain of a gap, by IdleCause
  static constexpr std::array<std::optional<GapOwner>, kIdleCauses> kOwners{{{},
                                                                             GapOwner::blocking_copy,
                                                                             {},
                                                                             GapOwner::host_late,
                                                                             GapOwner::launches,
                                                                             GapOwner::launches,
                                                                             GapOwner::unexplained}};
  struct Span {
    std::int64_t from_ns, to_ns;
  };

  void claim(const DeviceGap& gap, std::int64_t from_ns, std::int64_t to_ns) {
    ns_ = without_optimizer_ns_ = {};
    taken_.clear();
    if (gap.collections != nullptr) {
      for (std::size_t i = 0; i < gap.part_count; ++i) {
        const DeviceGap::Part& part = gap.parts[i];
        if (part.cause != IdleCause::after_sync && part.cause != IdleCause::host_late) continue;
        gap.collections->each_within(std::max(from_ns, part.from_ns), std::min(to_ns, part.to_ns),
                                     [&](std::int64_t start_ns, std::int64_t end_ns) {
                                       claim_span(GapOwner::garbage_collection, start_ns, end_ns);
                                     });
      }
    }
    allocations_.each_within(gap.process, from_ns, to_ns, [&](const LateAllocations::Call& call) {
      claim_span(owner_of(call), std::max(from_ns, call.start_ns), std::min(to_ns, call.end_ns));
    });
    if (gap.next->call != nullptr) {
      activity_.each_loading(
          gap.next->call->track, from_ns, std::min(to_ns, gap.next->call->start_ns),
          [&](std::int64_t start_ns, std::int64_t end_ns) { claim_span(GapOwner::data_loading, start_ns, end_ns); });
    }
    std::int64_t named_ns = 0;
    for (const std::int64_t ns : ns_) named_ns += ns;
    holder_ = holder_of(gap);
    if (holder_.owner && 2 * named_ns < to_ns - from_ns)
      claim_span(*holder_.owner, from_ns, std::min(to_ns, holder_.to_ns));
    const Times named = ns_;
    const bool blocks = blocks_to_device(*gap.next);
    for (std::size_t i = 0; i < gap.part_count; ++i) {
      const DeviceGap::Part& part = gap.parts[i];
      const std::int64_t part_from_ns = std::max({from_ns, holder_.to_ns, part.from_ns}),
                         part_to_ns = std::min(to_ns, part.to_ns);
      const auto owner =
          part.cause == IdleCause::copy && !blocks ? std::nullopt : kOwners[static_cast<std::size_t>(part.cause)];
      if (owner && part_from_ns < part_to_ns) claim_span(*owner, part_from_ns, part_to_ns);
    }
    if (!after_optimizer_[{gap.process, gap.device}] || !optimizers_.has(*gap.next)) return;
    for (const GapOwner owner : {GapOwner::launches, GapOwner::host_late}) {
      const auto i = static_cast<std::size_t>(owner);
      without_optimizer_ns_[i] = ns_[i];
      ns_[static_cast<std::size_t>(GapOwner::optimizer)] += ns_[i];
      ns_[i] = named[i];
    }
  }
  void claim_span(GapOwner owner, std::int64_t from_ns, std::int64_t to_ns) {
    std::int64_t at_ns = from_ns;
    for (const Span& each : taken_) {  // sorted by start and disjoint
      if (each.to_ns <= at_ns) continue;
      if (each.from_ns >= to_ns) break;
      ns_[static_cast<std::size_t>(owner)] += std::max<std::int64_t>(0, each.from_ns - at_ns);
      at_ns = each.to_ns;
    }
    ns_[static_cast<std::size_t>(owner)] += std::max<std::int64_t>(0, to_ns - at_ns);
    if (from_ns >= to_ns) return;
    Span whole{from_ns, to_ns};
    std::erase_if(taken_, [&](const Span& each) {
      if (each.to_ns < whole.from_ns || each.from_ns > whole.to_ns) return false;
      whole = {std::min(whole.from_ns, each.from_ns), std::max(whole.to_ns, each.to_ns)};
      return true;
    });
    taken_.insert(std::ranges::upper_bound(taken_, whole.from_ns, {}, &Span::from_ns), whole);
  }
  static GapOwner owner_of(const LateAllocations::Call& call) {
    return call.purpose == AllocationPurpose::other ? GapOwner::allocation : GapOwner::cache_release;
  }
  // What blocked the host when the device went idle, and the end of the part of the gap that it explains.
  struct Holder {
    std::optional<GapOwner> owner;
    std::int64_t to_ns;
  };
  Holder holder_of(const DeviceGap& gap) const {
    if (const auto call = allocations_.call_at(gap.process, gap.from_ns))
      return {owner_of(*call), std::min(gap.to_ns, gap.from_ns + (call->end_ns - call->start_ns))};
    if (!gap.wait) return {std::nullopt, gap.from_ns};
    return {gap.wait->for_copy && gap.wait->to_device ? GapOwner::blocking_copy : GapOwner::host_sync,
            gap.waited_to_ns()};
  }
  // Returns where in a gap the owner's time lies.
  Span span_of(GapOwner owner, std::int64_t from_ns, std::int64_t to_ns) const {
    if (!holder_.owner || owner == GapOwner::garbage_collection || owner == GapOwner::data_loading)
      return {from_ns, to_ns};
    const std::int64_t held_to_ns = std::clamp(holder_.to_ns, from_ns, to_ns);
    return owner == *holder_.owner ? Span{from_ns, held_to_ns} : Span{held_to_ns, to_ns};
  }

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
