// Exports a trace for another program. An exporter receives the events in order of time and writes bytes; it never
// stores all events. A new format is one file and one line in export_formats() (cli/show/export/export_job.cpp).
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

// The results of a first pass over the trace, which are needed to name and order tracks in the second: processes and
// tracks with events, streams with NCCL kernels, begin and end of the trace.
class Census {
 public:
  explicit Census(const Catalog& catalog)
      : processes(catalog.processes.size()),
        tracks(catalog.tracks.size()),
        catalog_(&catalog),
        names_(catalog.strings) {}

  // Ignores flow events, because they are written on slices or not at all.
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

// User options for formats. Each format ignores the options of others.
enum class PacketCompression : std::uint8_t { deflate, zstd, none };

struct FormatOptions {
  // pftrace: compression of packets; zstd needs Perfetto v58
  PacketCompression compression = PacketCompression::deflate;
  bool gpu_tracks = false;  // pftrace: write GPU work as render stages, for the GPU views of Perfetto v55
  bool computed = true;     // kineto: write Python calls, which are computed from the stacks of operators
};

// Counts of written and excluded events. The user gets a message about everything that is not in the export.
struct ExportSummary {
  std::uint64_t events_in = 0;
  std::uint64_t slices_out = 0;
  std::uint64_t instants_out = 0;
  std::uint64_t counters_out = 0;
  std::uint64_t flow_events_in = 0;    // events of Kind::flow; each is written or counted in one of the next three
  std::uint64_t one_ended_flows = 0;   // the other endpoint is not in the trace or not written
  std::uint64_t unplaced_flows = 0;    // no slice to bind to at the time on the track
  std::uint64_t undrawable_flows = 0;  // at GPU work that cannot have another flow in this format
  std::uint64_t flow_events_drawn = 0;
  std::uint64_t flows_out = 0;  // one per pair of endpoints, explicit and by correlation
  // Part of flows_out whose work ended before its launch began; viewers may hide them
  std::uint64_t backward_flows = 0;
  std::uint64_t works_without_launch = 0;  // GPU work with a correlation whose call is not in the trace
  std::uint64_t unfinished = 0;            // slices without an end, written to the end of the trace
  std::uint64_t extra_lanes = 0;           // lanes in addition to the first of each track
  std::uint64_t derived_slices = 0;        // computed by us, not among the events
  std::uint64_t derived_values = 0;        // counter values computed by us
  std::uint64_t collective_flows = 0;      // from the last rank of a collective to another
  std::uint64_t joined_ends = 0;           // ends of async spans, which are written as slices with their begins
  // Ranks of collectives without a flow: the last rank is missing, or this rank had ended before
  std::uint64_t unjoined_calls = 0;

  // Adds the counts of another output.
  ExportSummary& operator+=(const ExportSummary& other);

  // Returns true if every event is either in the export or counted as excluded.
  bool balanced() const {
    return events_in == slices_out + instants_out + counters_out + flow_events_in + joined_ends &&
           flow_events_in == flow_events_drawn + one_ended_flows + unplaced_flows + undrawable_flows;
  }
};

// The methods are called in this order: origin, optional; begin, once; collectives, optional; clocks, optional; prepare
// for every event if needs_two_passes(); steps, once; event for the same events in the same order, with derived() and
// left_out() between them; finish, once. Events are sorted by start_ns, the longer one first at equal starts. The
// catalogue is complete before begin(). The catalogue and the sink outlive the exporter. `args` is valid only during
// the call. All methods may throw Error.
class Exporter : public DerivedSink {
 public:
  virtual bool needs_two_passes() const { return false; }
  // Sets the time that is 0 in the output, so that several files of one trace share an axis. By default it is the time
  // of the first event, or of data lost before it. No output has an earlier time. Called before begin().
  virtual void origin(std::int64_t /*ns*/) {}
  virtual void begin(const Catalog& catalog, ByteSink& sink) = 0;
  // Sets the collectives between whose ranks flows are written. They outlive the exporter.
  virtual void collectives(const JoinedCollectives&) {}
  // Sets the alignment of the hosts' clocks, for formats that can store it. It outlives the exporter.
  virtual void clocks(const std::vector<ClockFit>&) {}
  virtual void prepare(const Event&, const Facts& /*facts*/) {}
  // Sets the steps, which outlive the exporter.
  virtual void steps(const Steps&) {}
  void derived(const Derived&) override {}
  virtual void event(const Event& event, const Facts& facts) = 0;
  // Receives an event that was excluded by filters and is not written, because output about other events may depend on
  // it.
  virtual void left_out(const Event&, const Facts& /*facts*/) {}
  // Writes the rest. The caller finishes the sink.
  virtual ExportSummary finish() = 0;
  // Returns the number of bytes not passed to the sink yet, before compression by the format. The sum with the bytes
  // passed to the sink never decreases. Used to split the output.
  virtual std::uint64_t pending_bytes() const { return 0; }
};

}  // namespace cli
