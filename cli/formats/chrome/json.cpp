#include "cli/formats/chrome/json.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "cli/formats/chrome/derived.h"
#include "cli/formats/chrome/flows.h"
#include "cli/formats/export/args_text.h"
#include "cli/formats/export/chrome_text.h"
#include "cli/formats/export/exporter.h"
#include "cli/formats/export/flows.h"
#include "cli/formats/export/lanes.h"
#include "cli/formats/export/shared_json.h"
#include "cli/trace/losses.h"

namespace cli::chrome {
namespace {

class ChromeJson : public Exporter {
 public:
  bool needs_two_passes() const override { return true; }
  void origin(std::int64_t ns) override { origin_ns_ = ns; }
  std::uint64_t pending_bytes() const override { return text_ ? text_->position() : 0; }

  void begin(const Catalog& catalog, ByteSink& sink) override {
    catalog_ = &catalog;
    sink_ = &sink;
    census_.emplace(catalog);
    flows_.emplace(catalog);
    collectives_.emplace(catalog);
  }

  void collectives(const JoinedCollectives& joined) override { collectives_->join(joined); }

  void prepare(const Event& event, const Facts& facts) override {
    census_->count(event);
    flows_->prepare(event, facts);
    collectives_->prepare(event);
  }

  void event(const Event& event, const Facts& facts) override {
    if (!started_) start(event.start_ns);
    const std::string_view args = (*args_)(event, facts);
    flows_->time(event.start_ns, *text_, tracks_, summary_);
    ++summary_.events_in;
    if (is_slice(event)) {
      slice(event, facts, args);
    } else if (event.kind == Kind::flow) {
      ++summary_.flow_events_in;
      flows_->flow(event);
    } else {
      point(event, args);
    }
    if (text_->full()) {
      text_->flush();
      flows_->moved();
    }
  }

  void derived(const Derived& derived) override {
    if (!started_) start(derived.start_ns);
    if (!processes_[derived.process].shown) describe_process(derived.process);
    derived_->draw(derived, *origin_ns_, *text_, summary_);
  }

  ExportSummary finish() override {
    if (!started_) start(census_->first_ns());
    flows_->finish(*text_, tracks_, summary_);
    text_->tail();
    return summary_;
  }

 private:
  // Derived slices may begin before the first event.
  void start(std::int64_t first_ns) {
    started_ = true;
    text_.emplace(*catalog_, *sink_);  // created late, because thousands of segments may be prepared at once
    args_.emplace(*catalog_);
    origin_ns_ = origin_ns_.value_or(first_ns);
    if (!census_->empty()) origin_ns_ = std::min(*origin_ns_, census_->first_ns());  // also for events in no span
    flows_->end_prepare();
    collectives_->end_prepare();
    processes_ = process_layouts(*catalog_, *census_);
    track_layouts_ = track_layouts(*catalog_, *census_, processes_);
    open_tracks();
    text_->head(*origin_ns_);
    const auto [processes, tracks] = display_order(*catalog_, processes_, track_layouts_);
    for (const ProcessId id : processes) describe_process(id);
    for (const TrackId id : tracks) describe_lane(tracks_[id]->base());
    derived_.emplace(*catalog_, track_layouts_, processes_, home_);
  }

  void open_tracks() {
    home_.resize(processes_.size());
    for (std::size_t i = 0; i < processes_.size(); ++i) home_[i] = chrome_ids(processes_[i].pid, processes_[i].pid);
    tracks_.resize(track_layouts_.size());
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
      const Track& track = catalog_->tracks[i];
      if (!track_layouts_[i].shown) continue;
      tracks_[i] = std::make_unique<TrackLanes>(track.kind, track_layouts_[i], processes_[track.process]);
      if (track_layouts_[i].order == 0) home_[track.process] = tracks_[i]->base().where;
    }
  }

  void describe_process(std::size_t id) {
    processes_[id].shown = true;
    text_->name("process_name", home_[id], processes_[id].name, loss_json(catalog_->processes[id]));
    text_->sort_index("process_sort_index", home_[id], processes_[id].order);
  }

  void describe_lane(TrackLanes::Lane& lane) {
    lane.fresh = false;
    text_->name("thread_name", lane.where, lane.name);
    text_->sort_index("thread_sort_index", lane.where, lane.sort_index);
  }

  void slice(const Event& event, const Facts& facts, std::string_view args) {
    const std::int64_t end_ns = slice_end(event, census_->last_ns());
    TrackLanes::Lane& lane = tracks_[event.track]->place(event, end_ns);
    if (lane.fresh) {
      describe_lane(lane);
      ++summary_.extra_lanes;
    }
    text_->slice(event, end_ns, lane.where, args);
    ++summary_.slices_out;
    if (event.duration_ns < 0) ++summary_.unfinished;
    flows_->slice(event, facts, end_ns, lane, *text_, summary_);
    collectives_->draw(event, summary_, [&](const CollectiveFlows::Flow& flow) {
      text_->collective_flow(flow.starts ? 's' : 'f', kCollectiveIds + flow.id, lane.where, flow.at_ns);
    });
  }

  void point(const Event& event, std::string_view args) {
    TrackLanes::Lane& lane = tracks_[event.track]->base();
    if (event.kind == Kind::counter || event.phase == 'C') {
      text_->counter(event, lane.where, args);
      ++summary_.counters_out;
    } else {
      text_->instant(event, lane.where, args);
      lane.top_ns = TrackLanes::kNoSlice;
      ++summary_.instants_out;
    }
  }

  // Above FlowTable's ids, because chrome://tracing distinguishes flows only by id
  static constexpr std::uint64_t kCollectiveIds = std::uint64_t{1} << 40;
  const Catalog* catalog_ = nullptr;
  ByteSink* sink_ = nullptr;
  std::optional<std::int64_t> origin_ns_;
  std::optional<ChromeText> text_;
  std::optional<ArgsText> args_;
  std::optional<Census> census_;
  std::optional<ChromeFlows> flows_;
  std::optional<CollectiveFlows> collectives_;
  std::vector<ProcessLayout> processes_;
  std::vector<TrackLayout> track_layouts_;
  std::optional<ChromeDerived> derived_;
  std::vector<std::string> home_;  // by ProcessId: the lane that represents the process
  ChromeFlows::Tracks tracks_;
  ExportSummary summary_;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<Exporter> make_chrome_json() { return std::make_unique<ChromeJson>(); }

}  // namespace cli::chrome
