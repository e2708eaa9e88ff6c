// Collectives as what they are: one thing that several ranks take part in. Calls of the ranks (call_collector.h) are matched by the
// numbers that they carry, else by what fits alone (align_lanes.h). What cannot be matched is refused, with the reason: a
// wrong match is worse than none.
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

// Of several, the first that holds: ranks called different things; it has not ended somewhere; ranks are missing; all ranks called
// it, but what it did on the GPU is not in the trace of some; else it is complete.
enum class CollectiveState : std::uint8_t { complete, missing_ranks, mismatch, open, no_gpu_work };
std::string_view state_name(CollectiveState state);

// One rank in a collective.
struct MatchedCall {
  ProcessId process = 0;
  std::uint32_t lane = 0, call = 0;  // in CollectiveCalls
};

struct MatchedCollective {
  std::uint32_t group = 0;          // in MatchedCollectives::groups
  std::int64_t ordinal = 0;         // as it was numbered; of counted ones, since the first one that is known
  WhatId what = 0;                  // of most ranks
  CollectiveState state = CollectiveState::complete;
  bool point_to_point = false;
  bool counted = false;
  std::uint32_t first_call = 0, calls = 0;  // in MatchedCollectives::calls, by rank
};

// The ranks of a communicator.
struct MatchedGroup {
  CommunicatorId communicator = 0;
  std::vector<ProcessId> members;  // that take part in any of its collectives, ascending
  std::int64_t size = -1;          // as it was told; else how many members there are, if no other rank of the job can be one; -1: unknown
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
  std::vector<std::string> notes;  // what was found on the way: a sentence each

  std::span<const MatchedCall> calls_of(const MatchedCollective& collective) const {
    return std::span(calls).subspan(collective.first_call, collective.calls);
  }
};

// `calls` is of the catalogue's processes.
MatchedCollectives match_collectives(const CollectiveCalls& calls, const Catalog& catalog);

inline const CollectiveCall& call_of(const CollectiveCalls& calls, const MatchedCall& which) {
  return calls.processes[which.process].lanes[which.lane].calls[which.call];
}

// When a collective took place, by the clocks as they are in the trace.
struct CollectiveTimes {
  std::int64_t first_start_ns = kNoTime, last_start_ns = kNoTime;  // of the ranks whose start is known
  std::size_t last_call = 0;                                        // which of its calls was the last to start
  std::int64_t end_ns = kNoTime;                                    // the latest that is known
  bool all_started = false, all_ended = false;                      // every rank of the group, as far as it is known
  std::optional<std::int64_t> transfer_ns;  // end - last start, where every rank depends on all, and all are known
};
CollectiveTimes times_of(const MatchedCollectives& matched, const CollectiveCalls& calls, const MatchedCollective& collective);

// How many ranks take part; -1: unknown.
std::int64_t ranks_of(const MatchedCollectives& matched, const MatchedCollective& collective);

// The size that bandwidth is computed from (operations.h); empty: not known.
std::optional<std::int64_t> size_of(const MatchedCollectives& matched, const CollectiveCalls& calls, const MatchedCollective& collective);

// What is wrong with it, as a sentence; "" of a complete one.
std::string trouble_text(const MatchedCollectives& matched, const CollectiveCalls& calls, const Catalog& catalog, const MatchedCollective& collective);

}  // namespace cli
