// A trace as another program reads it. An exporter walks the events in the order of time and writes bytes; it
// never holds the events. A new format is one file and one line in export_formats() (cli/show/export/export_job.cpp).
#pragma once
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "cli/base/output_file.h"
#include "cli/timeline/collectives/joined_collectives.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"
#include "cli/trace/derived.h"
#include "cli/trace/event.h"
#include "cli/trace/event_times.h"
#include "cli/trace/names.h"
#include "cli/trace/steps.h"

namespace cli {

// What a first pass learns of a trace so that the second can name and order its tracks: who is there at all, on which
// streams NCCL runs, when it begins and ends.
class Census {
 public:
  explicit Census(const Catalog& catalog)
      : processes(catalog.processes.size()), tracks(catalog.tracks.size()), catalog_(&catalog), names_(catalog.strings) {}

  // Flow events are passed over: they are written on slices, or not at all.
  void count(const Event& event);

  struct OfProcess {
    bool seen = false;
    std::int64_t first_ns = 0;
  };
  struct OfTrack {
    bool seen = false;
    std::uint64_t kernels = 0;
    std::uint64_t nccl_kernels = 0;
  };
  std::vector<OfProcess> processes;  // by ProcessId
  std::vector<OfTrack> tracks;       // by TrackId

  bool empty() const { return first_ns_ > last_ns_; }
  std::int64_t first_ns() const { return empty() ? 0 : first_ns_; }
  std::int64_t last_ns() const { return empty() ? 0 : last_ns_; }

 private:
  const Catalog* catalog_;
  NameClasses names_;
  std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
};

// What a person may choose of how a format is written. Formats pass over what is not theirs.
enum class PacketCompression : std::uint8_t { deflate, zstd, none };

struct FormatOptions {
  PacketCompression compression = PacketCompression::deflate;  // pftrace: of the packets; zstd needs Perfetto v58
  bool gpu_tracks = false;  // pftrace: GPU work as render stages, for the GPU views of Perfetto v55
  bool computed = true;  // kineto: calls of Python, which are computed from the stacks of operators
};

// What became of the events. A person who exports is told of everything that is not in the export.
struct ExportSummary {
  std::uint64_t events_in = 0;
  std::uint64_t slices_out = 0;
  std::uint64_t instants_out = 0;
  std::uint64_t counters_out = 0;
  std::uint64_t flow_events_in = 0;   // events of Kind::flow; each is written or in one of the next three
  std::uint64_t one_ended_flows = 0;  // ... whose other end is not in the trace, or not written
  std::uint64_t unplaced_flows = 0;   // ... at a time and track where there is no slice to bind to
  std::uint64_t undrawable_flows = 0;  // ... at GPU work that the format cannot give another flow
  std::uint64_t flow_events_drawn = 0;
  std::uint64_t flows_out = 0;            // one per pair of ends, explicit and by correlation
  std::uint64_t backward_flows = 0;       // of these: the work ended before its launch began; viewers may hide them
  std::uint64_t works_without_launch = 0;  // GPU work with a correlation whose call is not in the trace
  std::uint64_t unfinished = 0;            // slices without an end, written to the end of the trace
  std::uint64_t extra_lanes = 0;           // lanes besides the first of each track
  std::uint64_t derived_slices = 0;        // computed by us: they are not among the events
  std::uint64_t derived_values = 0;        // ... of counters
  std::uint64_t collective_flows = 0;      // from the last rank of a collective to another
  std::uint64_t joined_ends = 0;           // ends of async spans, which are slices with their begins
  std::uint64_t unjoined_calls = 0;        // ranks of collectives without one: the last is not here, or this one had ended before

  // Of several outputs together.
  ExportSummary& operator+=(const ExportSummary& other);

  // Conservation: every event is in the export or counted as left out.
  bool balanced() const {
    return events_in == slices_out + instants_out + counters_out + flow_events_in + joined_ends &&
           flow_events_in == flow_events_drawn + one_ended_flows + unplaced_flows + undrawable_flows;
  }
};

// Calls, in this order: origin, or not; begin once; collectives, or not; clocks, or not; prepare for every event when needs_two_passes(); steps once; event
// for the same events in the same order, with derived() and left_out() between them; finish once. Events come by start_ns ascending,
// the longer first at equal starts. The catalogue is complete before begin() and outlives the exporter, as does the
// sink. `args` lives only during its call. All may throw Error.
class Exporter : public DerivedSink {
 public:
  virtual bool needs_two_passes() const { return false; }
  // Before begin(): the moment that is time 0 in the output, so that files of one trace lie on one axis; else it is the
  // first event's, or of what was lost before. Nothing is written earlier.
  virtual void origin(std::int64_t /*ns*/) {}
  virtual void begin(const Catalog& catalog, ByteSink& sink) = 0;
  // Between whose ranks flows are written; outlives the exporter.
  virtual void collectives(const JoinedCollectives&) {}
  // How the hosts' clocks lie on the axis, for formats that can say it; outlives the exporter.
  virtual void clocks(const std::vector<ClockFit>&) {}
  virtual void prepare(const Event&, const Facts& /*facts*/) {}
  // The steps outlive the exporter.
  virtual void steps(const Steps&) {}
  void derived(const Derived&) override {}
  virtual void event(const Event& event, const Facts& facts) = 0;
  // One between them that was not chosen, and is not written: what is said of others may follow from it.
  virtual void left_out(const Event&, const Facts& /*facts*/) {}
  // Writes what is left; the caller finishes the sink.
  virtual ExportSummary finish() = 0;
  // Of the output so far, before compression of its own, what the sink has not got yet: with what that has it only
  // grows. For those that cut it into parts.
  virtual std::uint64_t pending_bytes() const { return 0; }
};

}  // namespace cli
