// The collectives of a trace as exports draw them: of each rank what it waited for the others and how long it then transferred,
// and which of its kernels belong together with those of other ranks.
//
// wait = latest start over the ranks - own start; transfer = own end - latest start. Both where every rank depends on all and
// all are known (CollectiveTimes::transfer_ns), so that waits add up to those of `analyze --only collectives`, and the longest
// transfer of a collective is the one there.
//
// Memory: some 400 bytes for each call of a collective of any rank while it is collected, 120 afterwards; so of a trace with
// more than kMostCalls nothing is joined, and a note says so. Nothing grows with other events.
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
#include "cli/trace/names.h"
#include "cli/trace/event.h"

namespace cli {

// What a rank did in a collective, by its first kernel or copy.
struct JoinedCall {
  std::int64_t start_ns = 0;
  std::int64_t last_start_ns = 0;  // of all ranks
  std::uint32_t collective = 0;    // in JoinedCollectives::collectives
  TrackId track = 0;
  StringId name = 0;
  bool is_last = false;  // this rank was the last to start
};

// A slice of a track of collectives.
struct JoinedPart {
  std::int64_t start_ns = 0, end_ns = 0;
  std::int32_t device = -1;
  std::uint32_t collective = 0;
  CollectivePart part = CollectivePart::wait;
  std::int64_t length_ns = 0;  // of the whole, of which this may be what is left behind a cut
};

// Moved, not copied: collectives point to communicators.
struct JoinedCollectives {
  JoinedCollectives() = default;
  JoinedCollectives(JoinedCollectives&&) = default;
  JoinedCollectives& operator=(JoinedCollectives&&) = default;

  std::vector<JoinedCollective> collectives;    // of two ranks at least, of all of which the start is known
  std::vector<std::vector<JoinedCall>> calls;   // by ProcessId; by start
  std::vector<std::vector<JoinedPart>> parts;   // by ProcessId; by start, the longer first
  std::vector<CommunicatorInfo> communicators;
  std::vector<std::string> notes;  // a sentence each
};

class CollectiveJoin : public EventSink {
 public:
  static constexpr std::uint64_t kMostCalls = 1 << 20;

  // `catalog` is complete and outlives it.
  explicit CollectiveJoin(const Catalog& catalog, std::uint64_t most_calls = kMostCalls);

  static Wanted wanted();  // what it needs, of all ranks
  // All of it, on the axis, of each process in the order of time.
  void event(const Event& event, const Facts& facts) override;
  // After the last one, once: the collectives that a chosen process takes part in at a chosen time.
  JoinedCollectives take(const Wanted& chosen = {});

  // Or, where times are chosen, of a part of the trace: what to read of it, and the same as of all. None: from that part alone it
  // cannot be told what they are, because calls are not numbered or a rank's is not in it, and all events have to be read.
  static Wanted wanted_near(const Wanted& chosen);
  std::optional<JoinedCollectives> take_near(const Wanted& chosen);

 private:
  const Catalog& catalog_;
  std::uint64_t left_;  // calls that may still come
  NameClasses names_;
  std::unique_ptr<CallCollector> collector_;
};

// Of calls that were matched; those of the catalogue's processes.
JoinedCollectives join_collectives(CollectiveCalls calls, const Catalog& catalog, const Wanted& chosen = {});

}  // namespace cli
