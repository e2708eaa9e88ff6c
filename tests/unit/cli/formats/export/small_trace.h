// Builds a trace by hand and exports it, as the command does: in the order of a merged trace, in two passes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/answers/derived/collective_tracks.h"
#include "cli/answers/derived/overlay.h"
#include "cli/formats/chrome/json.h"
#include "cli/trace/catalog.h"

namespace cli {

inline constexpr std::int64_t kOrigin = 1'700'000'000'000'000'000;  // ns, of the events of most tests

struct StringSink : ByteSink {
  void write(std::string_view bytes) override { text += bytes; }
  void finish() override {}
  std::string text;
};

// Of a wait for CUDA event 9, which this call recorded on stream 7; none: unknown.
inline SyncFacts wait_for_event(std::optional<std::uint32_t> producer = {}) {
  SyncFacts facts;
  facts.type = 2, facts.context = 1, facts.stream = 20, facts.event = 9;
  if (producer) facts.producer_is_known = true, facts.producer_stream = 7, facts.producer_correlation = *producer;
  return facts;
}

inline DerivedFacts idle(std::int64_t length_ns) {
  DerivedFacts facts;
  facts.length_ns = length_ns;
  return facts;
}

// Lets only some computed rows pass, so that a golden file shows one behaviour.
struct SomeRows : DerivedSink {
  SomeRows(DerivedSink& to, const std::vector<DerivedTrack>& rows) : to(to), rows(rows) {}
  void derived(const Derived& derived) override {
    if (std::count(rows.begin(), rows.end(), derived.track) > 0) to.derived(derived);
  }
  DerivedSink& to;
  const std::vector<DerivedTrack>& rows;
};

class SmallTrace {
 public:
  Catalog catalog;
  std::vector<std::pair<Event, KeptFacts>> events;

  ProcessId process(std::int64_t rank, bool explicit_flows = false) {
    Process p;
    p.rank = rank;
    p.pid = 1000 + rank;
    p.host = "node1";
    p.device_name = "NVIDIA H100";
    p.source = "traces/worker.ring";
    p.explicit_flows = explicit_flows;
    catalog.processes.push_back(p);
    return static_cast<ProcessId>(catalog.processes.size() - 1);
  }
  TrackId track(ProcessId process, TrackKind kind, std::int64_t group, std::int64_t id, std::string name = "") {
    Track t;
    t.process = process, t.kind = kind, t.group = group, t.id = id, t.name = std::move(name);
    catalog.tracks.push_back(t);
    return static_cast<TrackId>(catalog.tracks.size() - 1);
  }
  TrackId thread(ProcessId p, std::int64_t tid = 4242) {
    return track(p, TrackKind::thread, catalog.processes[p].pid, tid);
  }
  TrackId stream(ProcessId p, std::int64_t id = 7) { return track(p, TrackKind::stream, 0, id); }

  // The event stays changeable until the next one is added.
  Event& add(TrackId track, Kind kind, std::string_view name, std::int64_t start, std::int64_t duration,
             std::uint64_t correlation = 0, KeptFacts facts = {}) {
    Event e;
    e.track = track, e.kind = kind, e.name = catalog.strings.intern(name);
    e.start_ns = start, e.duration_ns = duration, e.correlation = correlation;
    events.emplace_back(e, std::move(facts));
    return events.back().first;
  }
  Event& point(TrackId track, Kind kind, char phase, std::string_view name, std::int64_t at, std::uint64_t id = 0,
               KeptFacts facts = {}) {
    Event& e = add(track, kind, name, at, 0, id, std::move(facts));
    e.phase = phase;
    return e;
  }

  std::string json() { return write(chrome::make_chrome_json()); }
  std::string write(std::unique_ptr<Exporter> exporter) {
    std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
      if (a.first.start_ns != b.first.start_ns) return a.first.start_ns < b.first.start_ns;
      return static_cast<std::uint64_t>(a.first.duration_ns) > static_cast<std::uint64_t>(b.first.duration_ns);
    });
    StringSink sink;
    note_spans();
    SomeRows rows(*exporter, computed);
    Overlay overlay(catalog, rows);
    exporter->begin(catalog, sink);
    CollectiveJoin join(catalog);
    for (const auto& [event, facts] : events) join.event(event, facts);
    const JoinedCollectives joined = join.take();
    if (joins_ranks) exporter->collectives(joined);
    CollectiveTracks collectives(joined, std::vector<bool>(catalog.processes.size(), joins_ranks), rows);
    for (const auto& [event, facts] : events) exporter->prepare(event, facts);
    exporter->steps(steps);
    for (const auto& [event, facts] : events) {
      overlay.event(event, facts);
      collectives.until(catalog.tracks[event.track].process, event.start_ns);
      exporter->event(event, facts);
    }
    overlay.finish();
    collectives.finish();
    summary = exporter->finish();
    return sink.text;
  }
  std::vector<DerivedTrack> computed;  // rows of an overlay that are drawn
  bool joins_ranks = false;            // collectives are joined over them
  Steps steps;
  ExportSummary summary;

 private:
  // As readers do.
  void note_spans() {
    for (const auto& [event, facts] : events) {
      Process& p = catalog.processes[catalog.tracks[event.track].process];
      const std::int64_t end = event.start_ns + std::max<std::int64_t>(0, event.duration_ns);
      if (p.first_ns == 0 || event.start_ns < p.first_ns) p.first_ns = event.start_ns;
      p.last_ns = std::max(p.last_ns, end);
    }
  }
};

}  // namespace cli
