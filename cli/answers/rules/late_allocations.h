// Finds the calls that allocate or release device memory after the first two steps, and why they were made. By then a
// caching allocator has all the memory that it needs.
//
// PyTorch's allocator releases memory in two cases. Both make many releases in a row, and each release waits for the GPU.
//   retry         An allocation failed. The allocator releases its cache and allocates again, on one thread and in one
//                 operator.
//   emptied_cache The program called torch.cuda.empty_cache(), which allocates nothing.
// Later operators allocate the released memory again. So after N releases, the next N allocations in operators have the
// same purpose.
#pragma once
#include <deque>
#include <map>
#include <optional>

#include "cli/answers/tables/analysis.h"
#include "cli/answers/tables/whole_steps.h"
#include "cli/trace/event_times.h"
#include "cli/trace/names.h"

namespace cli::rules {

enum class AllocationPurpose : std::uint8_t { other, retry, emptied_cache };

// Calls of one thread with one purpose, in order: at most one allocation, any number of releases, and for a retry
// another allocation. The thread launches nothing between them.
struct AllocationCalls {
  TrackId thread = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t ns = 0;  // total time of the calls
  std::int64_t allocations = 0, releases = 0;
  StringId allocation_name = 0, release_name = 0;  // of the newest
  AllocationPurpose purpose = AllocationPurpose::other;

  std::int64_t count() const { return allocations + releases; }
};

class LateAllocations {
 public:
  struct Call {
    TrackId thread = 0;
    std::int64_t start_ns = 0, end_ns = 0;
    AllocationPurpose purpose = AllocationPurpose::other;  // the likely purpose, until later events show it
  };

  explicit LateAllocations(const AnalysisContext& context)
      : context_(context),
        steps_(whole_steps(context).host()),
        launches_(context.catalog.strings),
        threads_(context.catalog.tracks.size()) {}

  // Processes an operator or a CUDA call; other events have no effect. If the event shows why earlier calls of its thread
  // were made, returns these calls.
  std::optional<AllocationCalls> event(const Event& event, const Facts& facts) {
    if (!is_slice(event)) return {};
    if (event.kind == Kind::cpu_op) {
      note_operator(event);
      return {};
    }
    if (!is_api_call(event.kind)) return {};
    const Use use = use_of(event.name);
    if (use == Use::none || event.duration_ns <= 0) return {};
    Thread& thread = thread_of(event.track);
    const std::int64_t end_ns = slice_end(event, kLatest_ns);
    // A driver call inside a runtime call is the same call.
    if (use != Use::launch && event.start_ns < thread.end_ns) return {};
    if (use == Use::launch || !is_late(event)) {
      thread.follows_failure = false;
      return thread.open.count() == 0 ? std::nullopt : std::optional(settle(thread));
    }
    thread.end_ns = end_ns;
    add(event, end_ns);
    return use == Use::release ? release(event, thread) : allocation(event, may_have_failed(event, facts), thread);
  }

  // Calls on_calls(calls) for the remaining calls of a process. Call it after the last event of the process.
  template <typename OnCalls>
  void settle_rest(ProcessId process, OnCalls&& on_calls) {
    const auto found = processes_.find(process);
    if (found == processes_.end()) return;
    for (const TrackId track : found->second.threads) {
      if (threads_[track].open.count() > 0) on_calls(settle(threads_[track]));
    }
  }
  // Frees the data of a process. The process must not be queried afterwards.
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
  // Returns the longest such call that runs at `ns`; empty if there is none.
  std::optional<Call> call_at(ProcessId id, std::int64_t ns) const {
    std::optional<Call> longest;
    each_within(id, ns, ns + 1, [&](const Call& call) {
      if (!longest || call.end_ns - call.start_ns > longest->end_ns - longest->start_ns) longest = call;
    });
    return longest;
  }

 private:
  static constexpr std::int64_t kFirstSteps = 2;  // steps in which allocations are expected
  static constexpr std::size_t kMostCalls = 4096;
  static constexpr std::int64_t kFewestReleases = 2;  // in a row, for an emptied cache

  enum class Use : std::uint8_t { none, allocation, release, launch };
  struct Process {
    std::deque<Call> calls;                                     // calls that may overlap later idle time
    std::vector<TrackId> threads;                               // threads with such calls
    AllocationPurpose released_for = AllocationPurpose::other;  // purpose of the newest release of the cache
    std::int64_t to_allocate_again = 0;                         // released blocks that were not allocated again
  };
  struct Thread {
    std::int64_t end_ns = kEarliest_ns;                  // end of the newest call
    std::int64_t operators_end_ns = kEarliest_ns;        // latest end of all operators so far
    std::int64_t later_operators_end_ns = kEarliest_ns;  // latest end of operators after the first open release
    AllocationCalls open;                                // calls with an unknown purpose so far
    bool begins_with_failure = false;  // the open calls begin with an allocation that may have failed, or follow one
    bool follows_failure = false;      // the newest call was an allocation that may have failed
    bool is_listed = false;            // in Process::threads
  };

  ProcessId process_of(TrackId track) const { return context_.catalog.tracks[track].process; }
  Thread& thread_of(TrackId track) {
    if (track >= threads_.size()) threads_.resize(context_.catalog.tracks.size());
    return threads_[track];
  }

  Use use_of(StringId name) {
    const Strings& strings = context_.catalog.strings;
    if (allocates_.is(strings, name, is_allocation_name)) return Use::allocation;
    if (releases_.is(strings, name, is_release_name)) return Use::release;
    return launches_[name].launches ? Use::launch : Use::none;
  }
  bool is_late(const Event& event) const {
    const ProcessId id = process_of(event.track);
    const auto step = steps_.at(id, event.start_ns);
    return step && steps_.of(id)[*step].step.value_or(0) >= kFirstSteps;
  }
  // Recordings and reports contain the results of calls, profiles do not.
  bool may_have_failed(const Event& event, const Facts& facts) const {
    const auto* call = facts.get<CallFacts>();
    return context_.catalog.processes[process_of(event.track)].format == SourceFormat::kineto ||
           (call != nullptr && call->return_value != 0);
  }

  void note_operator(const Event& event) {
    Thread& thread = thread_of(event.track);
    const std::int64_t end_ns = slice_end(event, kLatest_ns);
    thread.operators_end_ns = std::max(thread.operators_end_ns, end_ns);
    if (thread.open.releases > 0) thread.later_operators_end_ns = std::max(thread.later_operators_end_ns, end_ns);
  }

  void add(const Event& event, std::int64_t end_ns) {
    Process& process = processes_[process_of(event.track)];
    process.calls.push_back({event.track, event.start_ns, end_ns});
    if (process.calls.size() > kMostCalls) process.calls.pop_front();
    Thread& thread = threads_[event.track];
    if (!thread.is_listed) process.threads.push_back(event.track);
    thread.is_listed = true;
  }

  std::optional<AllocationCalls> release(const Event& event, Thread& thread) {
    std::optional<AllocationCalls> settled;
    if (thread.open.releases == 0) {
      if (thread.open.count() > 0 && !thread.follows_failure) settled = settle(thread);
      thread.begins_with_failure = thread.follows_failure;
      thread.later_operators_end_ns = kEarliest_ns;
    }
    thread.follows_failure = false;
    extend(event, thread);
    ++thread.open.releases;
    thread.open.release_name = event.name;
    if (is_burst(thread)) {
      if (thread.open.releases == kFewestReleases) {
        mark(thread.open, AllocationPurpose::emptied_cache);
      } else {
        processes_[process_of(event.track)].calls.back().purpose = AllocationPurpose::emptied_cache;
      }
    }
    return settled;
  }

  std::optional<AllocationCalls> allocation(const Event& event, bool may_have_failed, Thread& thread) {
    const bool is_retry = thread.open.releases > 0 && is_retried_by(event, thread);
    std::optional<AllocationCalls> settled;
    if (!is_retry && thread.open.count() > 0) settled = settle(thread);
    extend(event, thread);
    Process& process = processes_[process_of(event.track)];
    if (!is_retry && process.to_allocate_again > 0 && is_in_operator(event, thread)) {
      --process.to_allocate_again;
      thread.open.purpose = process.calls.back().purpose = process.released_for;
    }
    ++thread.open.allocations;
    thread.open.allocation_name = event.name;
    if (is_retry) settled = settle(thread, AllocationPurpose::retry);
    thread.follows_failure = may_have_failed;
    return settled;
  }

  // Returns true if this allocation repeats one that failed before the open releases. The operator that allocates then
  // began before the releases. A limit of the allocator can fail an allocation without a call; other programs release
  // one block and allocate another in an operator.
  bool is_retried_by(const Event& allocation, const Thread& thread) const {
    if (is_in_operator(allocation, thread) && thread.later_operators_end_ns > allocation.start_ns) return false;
    return thread.begins_with_failure || (is_in_operator(allocation, thread) && is_burst(thread));
  }
  static bool is_in_operator(const Event& call, const Thread& thread) {
    return thread.operators_end_ns > call.start_ns;
  }
  // Returns true for several releases in a row by PyTorch's allocator. Other programs may release memory of their own.
  bool is_burst(const Thread& thread) const {
    return thread.open.releases >= kFewestReleases &&
           context_.catalog.processes[process_of(thread.open.thread)].counts[static_cast<std::size_t>(Kind::cpu_op)] >
               0;
  }

  static void extend(const Event& event, Thread& thread) {
    AllocationCalls& open = thread.open;
    const std::int64_t end_ns = slice_end(event, kLatest_ns);
    if (open.count() == 0) open = {.thread = event.track, .start_ns = event.start_ns};
    open.end_ns = end_ns;
    open.ns += end_ns - event.start_ns;
  }

  AllocationCalls settle(Thread& thread) {
    return settle(thread, is_burst(thread) ? AllocationPurpose::emptied_cache : thread.open.purpose);
  }
  AllocationCalls settle(Thread& thread, AllocationPurpose purpose) {
    AllocationCalls settled = thread.open;
    settled.purpose = purpose;
    if (settled.count() > 1) mark(settled, purpose);
    if (purpose != AllocationPurpose::other && settled.releases > 0) {
      Process& process = processes_[process_of(settled.thread)];
      process.released_for = purpose;
      process.to_allocate_again = settled.releases;
    }
    thread.open = {};
    thread.begins_with_failure = false;
    return settled;
  }

  // Sets the purpose of the calls of a thread in the time of `calls`.
  void mark(const AllocationCalls& calls, AllocationPurpose purpose) {
    std::deque<Call>& all = processes_[process_of(calls.thread)].calls;
    for (auto at = all.rbegin(); at != all.rend() && at->start_ns >= calls.start_ns; ++at) {
      if (at->thread == calls.thread && at->start_ns < calls.end_ns) at->purpose = purpose;
    }
  }

  const AnalysisContext& context_;
  const Windows steps_;
  NameAnswers allocates_, releases_;
  NameClasses launches_;
  std::map<ProcessId, Process> processes_;
  std::vector<Thread> threads_;  // by TrackId
};

}  // namespace cli::rules
