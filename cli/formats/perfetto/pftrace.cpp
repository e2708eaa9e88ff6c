#include "cli/formats/perfetto/pftrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <string>

#include "cli/answers/derived/lost_slices.h"
#include "cli/base/json_text.h"
#include "cli/formats/export/args_text.h"
#include "cli/formats/export/exporter.h"
#include "cli/formats/export/flows.h"
#include "cli/formats/perfetto/proto.h"
#include "cli/formats/perfetto/render_stages.h"
#include "cli/formats/perfetto/slices.h"
#include "cli/formats/perfetto/tracks.h"
#include "cli/trace/losses.h"
#include "cli/trace/version.h"

namespace cli::perfetto {
namespace {

std::string ranks_of(const Catalog& catalog) {
  std::string ranks;
  for (const Process& p : catalog.processes) {
    if (p.rank >= 0) ranks += (ranks.empty() ? "" : ",") + std::to_string(p.rank);
  }
  return ranks;
}

std::string clock_text(const ClockFit& fit) {
  const bool bounded = fit.bound_lo_ns && fit.bound_hi_ns;
  return fmt::format(
      "offset {} ns, drift {} ppm, {}, by {} from {} samples", fit.offset_ns, fit.drift_ppm,
      bounded ? fmt::format("between {} and {} ns", *fit.bound_lo_ns, *fit.bound_hi_ns) : "error unknown", fit.method,
      fit.samples);
}

void valid_text(Writer& out, Field field, std::string_view value) {
  std::string scratch;
  const std::string_view valid = valid_utf8(value, scratch);
  out.add_string(field, valid.data(), valid.size());
}

void add_attribute(Writer& attributes, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  Writer one(attributes, attribute::attribute);
  valid_text(one, attribute::key, key);
  valid_text(one, attribute::text, value);
}

std::string who(const Process& p) {
  if (p.rank < 0) return p.source;
  return p.phase.empty() ? fmt::format("rank {}", p.rank) : fmt::format("rank {} {}", p.rank, p.phase);
}

}  // namespace

Buffer trace_attributes(const Catalog& catalog, const std::vector<ClockFit>* fits) {
  Buffer content;
  Writer all(content);
  add_attribute(all, "tracetool_version", TRACETOOL_VERSION);
  add_attribute(all, "ranks", ranks_of(catalog));
  for (const Process& p : catalog.processes) {
    add_attribute(all, who(p) + " source", p.source);
    add_attribute(all, who(p) + " lost", loss_text(p));
  }
  for (const ClockFit& fit : fits != nullptr ? *fits : std::vector<ClockFit>()) {
    if (!fit.host.empty()) add_attribute(all, "clock of " + fit.host, clock_text(fit));
  }
  return content;
}

}  // namespace cli::perfetto

namespace cli {
namespace perfetto {
namespace {

// Objects that live from begin() on.
struct Parts {
  Parts(const Catalog& catalog, ByteSink& sink, PacketCompression compression)
      : args(catalog),
        census(catalog),
        stream(sink, compression),
        packets(stream),
        vocabulary(catalog, packets),
        tracks(stream),
        flows(catalog),
        collectives(catalog),
        slices(packets, vocabulary),
        book(catalog, packets, tracks, sequences),
        counters(catalog, packets, tracks, sequences),
        stages(catalog, packets, vocabulary, tracks, sequences),
        stage_ends(catalog, flows.plan(), stages, moment) {}

  ArgsText args;
  Census census;
  PacketStream stream;
  EventPackets packets;
  Vocabulary vocabulary;
  Tracks tracks;
  std::deque<Sequence> sequences;
  SliceFlows flows;
  CollectiveFlows collectives;
  Slices slices;
  TrackBook book;
  Counters counters;
  RenderStages stages;
  Moment moment;
  StageEnds stage_ends;
};

class Pftrace : public Exporter {
 public:
  explicit Pftrace(const FormatOptions& options) : options_(options) {}

  bool needs_two_passes() const override { return true; }
  void origin(std::int64_t ns) override { origin_ns_ = ns; }

  void begin(const Catalog& catalog, ByteSink& sink) override {
    catalog_ = &catalog;
    parts_.emplace(catalog, sink, options_.compression);
    if (!options_.gpu_tracks) return;
    parts_->slices.submit_stages();
    parts_->flows.differ_by_process(catalog.processes.size());
    parts_->flows.plan().refuse_unless(
        [this](const Event& flow, TrackId track) { return parts_->stage_ends.takes(flow, track); });
  }

  // A render stage can have only the flow of its launch.
  void collectives(const JoinedCollectives& joined) override {
    if (!options_.gpu_tracks) parts_->collectives.join(joined);
  }

  void prepare(const Event& event, const Facts& facts) override {
    parts_->census.count(event);
    parts_->collectives.prepare(event);
    parts_->flows.plan().prepare(event, facts);
    if (options_.gpu_tracks) parts_->stage_ends.prepare(event);
  }

  void event(const Event& event, const Facts& facts) override {
    if (!started_) start();
    const SaidArgs args = parts_->args(event, facts);
    ++summary_.events_in;
    if (event.start_ns != now_ns_) end_moment();
    now_ns_ = event.start_ns;
    if (event.kind == Kind::flow) {
      ++summary_.flow_events_in;
      parts_->flows.plan().hold(event);
    } else if (parts_->flows.plan().has_flows()) {
      if (is_slice(event)) parts_->flows.slice(event, facts, correlated_, summary_);
      parts_->moment.add(event, args, correlated_);
      correlated_.clear();
    } else {
      if (is_slice(event)) parts_->flows.slice(event, facts, correlated_, summary_);
      write(event, args, correlated_);
      correlated_.clear();
    }
  }

  // Nothing is written before the origin, as in Chrome JSON: what begins earlier begins there.
  void derived(const Derived& given) override {
    if (!started_) start();
    Derived derived = given;
    const std::int64_t early_ns = std::max<std::int64_t>(begin_ns_ - derived.start_ns, 0);
    const bool counter = info(derived.track).counter;
    if (!counter && early_ns > 0 && early_ns >= derived.duration_ns) return;
    derived.start_ns += early_ns;
    derived.duration_ns -= counter ? 0 : early_ns;
    if (counter) {
      parts_->counters.computed(derived);
      ++summary_.derived_values;
    } else {
      computed_slice(derived);
    }
  }

  void clocks(const std::vector<ClockFit>& fits) override { parts_->tracks.clocks(fits); }
  std::uint64_t pending_bytes() const override { return parts_->stream.pending_bytes(); }
  ExportSummary finish() override {
    if (!started_) start();
    end_moment();
    for (Sequence& sequence : parts_->sequences) {
      parts_->slices.end_until(std::numeric_limits<std::int64_t>::max(), sequence);
    }
    parts_->stream.finish();
    summary_.extra_lanes = parts_->book.extra_lanes();
    return summary_;
  }

 private:
  void start() {
    started_ = true;
    parts_->flows.plan().end_prepare();
    parts_->collectives.end_prepare();
    parts_->stage_ends.end_prepare();
    begin_ns_ = begin_of_picture();
    parts_->book.begin(parts_->census, begin_ns_);
    parts_->counters.origin(begin_ns_);
    if (options_.gpu_tracks) parts_->stages.begin(begin_ns_);
  }

  // Lost data is written before the first event.
  std::int64_t begin_of_picture() const {
    const std::int64_t begin_ns = origin_ns_.value_or(picture_start(*catalog_));
    if (parts_->census.empty()) return begin_ns;
    return begin_ns > 0 ? std::min(begin_ns, parts_->census.first_ns()) : parts_->census.first_ns();
  }

  void computed_slice(const Derived& slice) {
    Sequence& sequence = parts_->book.place(slice);
    parts_->slices.end_until(slice.start_ns, sequence);
    parts_->slices.computed(slice, derived_text(slice, catalog_->processes[slice.process]), sequence);
    ++summary_.derived_slices;
  }

  void end_moment() {
    if (!parts_->flows.plan().has_flows()) return;
    parts_->flows.bind_flows([&](const Event& flow, TrackId track) { return flows_of(flow, track); }, summary_);
    parts_->moment.write(
        [&](const Event& event, std::string_view args, const FlowIds& flows) { write(event, args, flows); });
  }

  FlowIds* flows_of(const Event& flow, TrackId track) {
    if (Moment::Held* const starting = parts_->moment.find(flow, track)) return &starting->flows;
    OpenSlice* const open = parts_->book.covering(track, flow.start_ns);
    return open == nullptr ? nullptr : &open->flows;
  }

  void write(const Event& event, SaidArgs args, const FlowIds& flows) {
    if (is_slice(event)) return slice(event, args, flows);
    const bool counter = event.kind == Kind::counter || event.phase == 'C';
    if (counter && parts_->counters.event(event, args)) {
      ++summary_.counters_out;
      return;
    }
    Sequence& sequence = parts_->book.base(event.track);
    parts_->slices.end_until(event.start_ns, sequence);
    parts_->slices.instant(event, args, sequence);
    ++summary_.instants_out;
  }

  void slice(const Event& event, SaidArgs args, const FlowIds& flows) {
    const std::int64_t end_ns = slice_end(event, parts_->census.last_ns());
    ++summary_.slices_out;
    if (event.duration_ns < 0) ++summary_.unfinished;
    if (options_.gpu_tracks && parts_->stages.draws(event)) {
      return parts_->stages.write(event, end_ns, parts_->book.name(event.track), args, flows);
    }
    Sequence& sequence = parts_->book.place(event, end_ns);
    parts_->slices.end_until(event.start_ns, sequence);
    join(event, flows);
    parts_->slices.begin(event, end_ns, args, from_, to_, sequence);
  }

  // A viewer begins a flow at the slice that names it first. Therefore the others name it at their end, after the last
  // one has begun.
  void join(const Event& event, const FlowIds& flows) {
    from_ = flows;
    to_.clear();
    parts_->collectives.draw(event, summary_, [&](const CollectiveFlows::Flow& flow) {
      if (!flow.starts) return to_.push_back(pair_id(flow.id, flow.pair));
      for (std::uint32_t pair = 0; pair < flow.ends; ++pair) from_.push_back(pair_id(flow.id, pair));
    });
  }
  static std::uint64_t pair_id(std::uint64_t flow, std::uint32_t pair) {
    return kCollectiveIds | flow << kPairBits | pair;
  }

  static constexpr std::uint64_t kCollectiveIds = std::uint64_t{1} << 63;  // distinct from SliceFlows' ids
  static constexpr int kPairBits = 20;                                     // for the number of a rank
  FormatOptions options_;
  const Catalog* catalog_ = nullptr;
  std::optional<std::int64_t> origin_ns_;  // as given
  std::int64_t begin_ns_ = 0;              // of the export
  std::optional<Parts> parts_;
  FlowIds correlated_;
  FlowIds from_, to_;  // of the current slice
  ExportSummary summary_;
  std::int64_t now_ns_ = 0;
  bool started_ = false;
};

}  // namespace
}  // namespace perfetto

std::unique_ptr<Exporter> make_pftrace(const FormatOptions& options) {
  return std::make_unique<perfetto::Pftrace>(options);
}

}  // namespace cli
