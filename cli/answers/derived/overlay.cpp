#include "cli/answers/derived/overlay.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cli/answers/derived/device_tracks.h"
#include "cli/answers/derived/lost_slices.h"
#include "cli/timeline/gpu/launch_queue.h"
#include "cli/timeline/gpu/work_classes.h"
#include "cli/trace/event_times.h"
#include "cli/trace/ranks.h"

namespace cli {
class Overlay::Rooms {
 public:
  Rooms(const Catalog& catalog, DerivedSink& sink)
      : catalog_(catalog),
        sink_(sink),
        names_(catalog.strings),
        classes_(catalog),
        window_ns_(busy_window_ns(catalog)),
        queues_(catalog.processes.size()),
        of_track_(catalog.tracks.size()) {
    for (ProcessId id = 0; id < catalog.processes.size(); ++id) memory_.emplace_back(catalog, id, sink);
  }

  void event(Event event, const Facts& facts) {
    if (!begun_) begin();
    event.start_ns = sane_ns(event.start_ns);
    classes_.event(event);
    const ProcessId process = catalog_.tracks[event.track].process;
    if (is_gpu_work(event.kind)) {
      if (catalog_.tracks[event.track].kind == TrackKind::stream && is_slice(event)) work(event, facts, process);
    } else if (is_api_call(event.kind)) {
      if (event.correlation == 0 || !names_[event.name].launches) return;
      queues_[process].launch(event.start_ns, event.correlation);
    } else if (event.kind == Kind::memory || event.kind == Kind::instant) {
      memory_[process].event(event, facts);
    }
  }

  void cut(std::int64_t at_ns) {
    if (!begun_) begin();
    for (LaunchQueue& queue : queues_) queue.cut(at_ns);
    for (auto& [key, tracks] : devices_) tracks.cut(at_ns);
    for (MemoryTracks& memory : memory_) memory.cut(at_ns);
  }

  void finish() {
    if (!begun_) begin();
    for (LaunchQueue& queue : queues_) queue.finish();
    for (auto& [key, tracks] : devices_) tracks.finish();
    for (MemoryTracks& memory : memory_) memory.finish();
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    for (const MemoryTracks& memory : memory_) memory.add_notes(notes);
    for (std::size_t id = 0; id < queues_.size(); ++id) {
      if (queues_[id].given_up() == 0) continue;
      const Process& process = catalog_.processes[id];
      notes.push_back((process.rank >= 0 ? rank_list({process.rank}) : process.source) + ": " +
                      std::to_string(queues_[id].given_up()) +
                      " launches are not counted as queued: their work is not in the trace, or began much later");
    }
    return notes;
  }

 private:
  void begin() {
    begun_ = true;
    for (const Derived& lost : lost_slices(catalog_)) sink_.derived(lost);
  }

  void work(const Event& event, const Facts& facts, ProcessId process) {
    DeviceTracks& tracks = device(event.track, process);
    const std::int64_t end_ns =
        std::max(event.start_ns, sane_ns(slice_end(event, catalog_.processes[process].last_ns)));
    tracks.work(event, end_ns, classes_.of(event, facts), names_[event.name].copy);
    if (event.correlation != 0) queues_[process].work(event.start_ns, event.correlation, tracks.queue());
  }

  DeviceTracks& device(TrackId track, ProcessId process) {
    if (of_track_[track] != nullptr) return *of_track_[track];
    const std::int64_t device = catalog_.tracks[track].group;
    const auto entry = devices_.try_emplace({process, device}, TrackOut{&sink_, process, device}, window_ns_).first;
    of_track_[track] = &entry->second;
    return entry->second;
  }

  const Catalog& catalog_;
  DerivedSink& sink_;
  NameClasses names_;
  WorkClasses classes_;
  std::int64_t window_ns_;
  std::vector<LaunchQueue> queues_;   // by ProcessId
  std::vector<MemoryTracks> memory_;  // by ProcessId
  std::map<std::pair<ProcessId, std::int64_t>, DeviceTracks> devices_;
  std::vector<DeviceTracks*> of_track_;  // by TrackId; null until the first use
  bool begun_ = false;
};

Overlay::Overlay(const Catalog& catalog, DerivedSink& sink) : rooms_(std::make_unique<Rooms>(catalog, sink)) {}
Overlay::~Overlay() = default;

void Overlay::event(const Event& event, const Facts& facts) { rooms_->event(event, facts); }
void Overlay::cut(std::int64_t at_ns) { rooms_->cut(at_ns); }
void Overlay::finish() { rooms_->finish(); }
std::vector<std::string> Overlay::notes() const { return rooms_->notes(); }

}  // namespace cli
