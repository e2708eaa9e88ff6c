// Writes the flows of Chrome trace JSON: from a launch to its GPU work, by correlation or by the flow events of the
// input.
//
// A viewer binds a flow endpoint to a slice by time and lane. Perfetto uses the slice opened there last, so an instant
// or a nested slice between a slice and its flow event would get the flow. Each endpoint is therefore written directly
// after its slice or, if the lane has newer slices, at the slice's start. FlowPlan assigns flow events to slices.
//
// Memory: FlowPlan; the slices of one instant; ends that precede their start.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cli/formats/export/chrome_text.h"
#include "cli/formats/export/exporter.h"
#include "cli/formats/export/flows.h"
#include "cli/formats/export/lanes.h"

namespace cli::chrome {

class ChromeFlows {
 public:
  using Tracks = std::vector<std::unique_ptr<TrackLanes>>;  // by TrackId; null if nothing is written

  explicit ChromeFlows(const Catalog& catalog) : plan_(catalog) {}

  // First pass: called for every event, then end_prepare().
  void prepare(const Event& event, const Facts& facts) { plan_.prepare(event, facts); }
  void end_prepare() { plan_.end_prepare(); }

  // Second pass: time() before each event; slice() after each written slice; flow() for each flow event; moved() after
  // each flush of `text`; finish() at the end.
  void time(std::int64_t now_ns, ChromeText& text, Tracks& tracks, ExportSummary& summary) {
    if (now_ns != now_ns_) next_time(now_ns, text, tracks, summary);
  }
  void slice(const Event& event, const Facts& facts, std::int64_t end_ns, const TrackLanes::Lane& lane,
             ChromeText& text, ExportSummary& summary);
  void flow(const Event& event) { plan_.hold(event); }
  void moved() { fresh_.clear(); }
  void finish(ChromeText& text, Tracks& tracks, ExportSummary& summary) { next_time(now_ns_, text, tracks, summary); }

 private:
  struct Fresh {  // a slice that starts now
    std::uint64_t correlation;
    const TrackLanes::Lane* lane;
    std::size_t position;  // the end of the slice in the text
    std::int64_t end_ns;
    TrackId track;
  };
  struct Bound {
    const TrackLanes::Lane* lane;
    std::int64_t start_ns, end_ns;
    std::size_t fresh;  // index, or fresh_.size()

    // Returns the time at which a flow of `time_ns` binds to the slice.
    std::int64_t drawn_ns(std::int64_t time_ns) const { return lane->top_ns == start_ns ? time_ns : start_ns; }
  };
  struct End {
    Bound bound;
    std::int64_t time_ns;
    StringId category;
    char phase;
  };

  void next_time(std::int64_t now_ns, ChromeText& text, Tracks& tracks, ExportSummary& summary);
  void draw_flow(const Event& flow, TrackId track, ChromeText& text, Tracks& tracks, ExportSummary& summary);
  Bound bind(const Event& flow, TrackId track, Tracks& tracks) const;
  void begin_flow(std::uint64_t flow_id, StringId category, const TrackLanes::Lane& lane, std::int64_t ns,
                  ChromeText& text, ExportSummary& summary);
  void end_flow(FlowTable::End end, const End& drawn, ChromeText& text, ExportSummary& summary);
  void move_behind(std::size_t fresh, std::size_t since, ChromeText& text);

  FlowPlan plan_;
  std::vector<Fresh> fresh_;
  std::unordered_map<std::uint64_t, std::vector<End>> early_;
  std::int64_t now_ns_ = 0;
};

}  // namespace cli::chrome
