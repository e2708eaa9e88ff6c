// Collectives for exports: how long each rank waited for the others and then transferred, and which kernels of
// different ranks belong to one collective.
//
// wait = latest start over the ranks - own start; transfer = own end - latest start. Both exist only if every rank
// depends on all others and all are known (CollectiveTimes::transfer_ns). The waits therefore add up to those of
// `analyze --only collectives`, and the longest transfer of a collective is the one reported there.
//
// Memory: some 400 bytes for each call of a collective on any rank while collecting, 120 bytes afterwards. A trace with
// more than kMostCalls calls is therefore not joined, and a note reports it. Other events need no memory.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/timeline/collectives/call_collector.h"
#include "cli/timeline/collectives/match.h"
#include "cli/trace/catalog.h"
#include "cli/trace/derived.h"
#include "cli/trace/event.h"
#include "cli/trace/names.h"

namespace cli {

// The part of one rank in a collective, identified by its first kernel or copy.
struct JoinedCall {
  std::int64_t start_ns = 0;
  std::int64_t last_start_ns = 0;  // of all ranks
  std::uint32_t collective = 0;    // in JoinedCollectives::collectives
  TrackId track = 0;
  StringId name = 0;
  bool is_last = false;  // this rank was the last to start
};

// A slice of a collectives track.
struct JoinedPart {
  std::int64_t start_ns = 0, end_ns = 0;
  std::int32_t device = -1;
  std::uint32_t collective = 0;
  CollectivePart part = CollectivePart::wait;
  std::int64_t length_ns = 0;  // of the whole slice, of which this may be the rest after a cut
};

// Move-only because collectives point to communicators.
struct JoinedCollectives {
  JoinedCollectives() = default;
  JoinedCollectives(JoinedCollectives&&) = default;
  JoinedCollectives& operator=(JoinedCollectives&&) = default;

  std::vector<JoinedCollective> collectives;   // with at least two ranks, all with known starts
  std::vector<std::vector<JoinedCall>> calls;  // by ProcessId; by start
  std::vector<std::vector<JoinedPart>> parts;  // by ProcessId; by start, the longer first
  std::vector<CommunicatorInfo> communicators;
  std::vector<std::string> notes;  // one sentence each
};

class CollectiveJoin : public EventSink {
 public:
  static constexpr std::uint64_t kMostCalls = 1 << 20;

  // `catalog` is complete and has to outlive this.
  explicit CollectiveJoin(const Catalog& catalog, std::uint64_t most_calls = kMostCalls);

  static Wanted wanted();  // the events needed, of all ranks
  // Adds an event. All wanted events have to be added, on the common axis, by time within each process.
  void event(const Event& event, const Facts& facts) override;
  // Returns the collectives in which a chosen process takes part at a chosen time. Called once, after the last event.
  JoinedCollectives take(const Wanted& chosen = {});

  // The same from a part of the trace, if times are chosen: wanted_near() returns what to read, take_near() the same
  // result as take(). Returns nullopt if that part is not sufficient (calls are not numbered, or calls of a rank are
  // outside of it); then all events have to be read.
  static Wanted wanted_near(const Wanted& chosen);
  std::optional<JoinedCollectives> take_near(const Wanted& chosen);

 private:
  const Catalog& catalog_;
  std::uint64_t left_;  // calls that may still be added
  NameClasses names_;
  std::unique_ptr<CallCollector> collector_;
};

// Joins matched calls. `calls` are those of the catalogue's processes.
JoinedCollectives join_collectives(CollectiveCalls calls, const Catalog& catalog, const Wanted& chosen = {});

}  // namespace cli
