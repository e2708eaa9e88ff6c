// Matches the calls of ranks (call_collector.h) to collectives, by the numbers that the calls carry, otherwise by the
// only possible alignment (align_lanes.h). Calls that cannot be matched are refused with a reason, because a wrong
// match is worse than none.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/timeline/collectives/call_collector.h"
#include "cli/trace/catalog.h"

namespace cli {

// If several states apply, the first of these counts: mismatch (ranks called different operations); open (not ended on
// some rank); missing_ranks; no_gpu_work (all ranks called it, but the trace lacks the GPU work of some); complete.
enum class CollectiveState : std::uint8_t { complete, missing_ranks, mismatch, open, no_gpu_work };
std::string_view state_name(CollectiveState state);

// The call of one rank in a collective.
struct MatchedCall {
  ProcessId process = 0;
  std::uint32_t lane = 0, call = 0;  // in CollectiveCalls
};

struct MatchedCollective {
  std::uint32_t group = 0;   // in MatchedCollectives::groups
  std::int64_t ordinal = 0;  // as numbered by the program; if counted, the number since the first known one
  WhatId what = 0;           // of most ranks
  CollectiveState state = CollectiveState::complete;
  bool point_to_point = false;
  bool counted = false;
  std::uint32_t first_call = 0, calls = 0;  // in MatchedCollectives::calls, by rank
};

// The ranks of a communicator.
struct MatchedGroup {
  CommunicatorId communicator = 0;
  std::vector<ProcessId> members;  // that take part in any of its collectives, ascending
  // As recorded; otherwise the number of members if the job has no other candidates; -1 if unknown
  std::int64_t size = -1;
  bool size_is_told = false;
};

struct MatchRefusal {
  ProcessId process = 0;
  CommunicatorId communicator = 0;
  std::uint64_t calls = 0;
  bool point_to_point = false;
  std::string why;
};

struct MatchedCollectives {
  std::vector<MatchedGroup> groups;
  std::vector<MatchedCollective> collectives;  // by group, then in its order
  std::vector<MatchedCall> calls;
  std::vector<MatchRefusal> refusals;
  std::vector<std::string> notes;  // findings during matching: one sentence each

  std::span<const MatchedCall> calls_of(const MatchedCollective& collective) const {
    return std::span(calls).subspan(collective.first_call, collective.calls);
  }
};

// `calls` are those of the catalogue's processes.
MatchedCollectives match_collectives(const CollectiveCalls& calls, const Catalog& catalog);

inline const CollectiveCall& call_of(const CollectiveCalls& calls, const MatchedCall& which) {
  return calls.processes[which.process].lanes[which.lane].calls[which.call];
}

// Times of a collective, on the clocks of the trace.
struct CollectiveTimes {
  std::int64_t first_start_ns = kNoTime, last_start_ns = kNoTime;  // of the ranks with known start
  std::size_t last_call = 0;                                       // index of the call that started last
  std::int64_t end_ns = kNoTime;                                   // latest known end
  bool all_started = false, all_ended = false;                     // every rank of the group, as far as known
  std::optional<std::int64_t> transfer_ns;  // end - last start, if every rank depends on all others and all are known
};
CollectiveTimes times_of(const MatchedCollectives& matched, const CollectiveCalls& calls,
                         const MatchedCollective& collective);

// Returns the number of ranks that take part; -1 if unknown.
std::int64_t ranks_of(const MatchedCollectives& matched, const MatchedCollective& collective);

// Returns the size for bandwidth calculations (operations.h); nullopt if unknown.
std::optional<std::int64_t> size_of(const MatchedCollectives& matched, const CollectiveCalls& calls,
                                    const MatchedCollective& collective);

// Returns a sentence that describes the problem of the collective; "" if it is complete.
std::string trouble_text(const MatchedCollectives& matched, const CollectiveCalls& calls, const Catalog& catalog,
                         const MatchedCollective& collective);

}  // namespace cli
