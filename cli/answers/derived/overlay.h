// Computes derived tracks from the events (cli/trace/derived.h). It receives all events of a trace once, in order, and
// emits values as soon as they are known. An export of a part of the events still needs to pass all events here and
// clip the result, so that gaps and counters are correct.
//
// Per device (GPU work: kernels, copies, memsets, whole graphs, on streams; waits are not work):
//   idle            from the end of all work so far to the start of the next; device_tracks.h skips short gaps
//   exposed         communication without any other kernel (cli/timeline/gpu/work_classes.h; a whole graph is "other")
//   launch queue    launches whose work has not begun
//   copies          bytes / duration of each running copy, added up per direction
//   busy            percentage of a window in which any work ran
//   in flight       running communication: kernels, and copies that do communication
//   allocated, reserved   from PyTorch's allocator
//   driver memory   allocated by the driver minus released, in recordings that contain all of it
// Per process: lost data, in the time in which it must have happened (lost_slices.h).
//
// A counter has one value per moment and a new one only on a change. Order: the lost tracks come first, before the
// first event, by start; then each track (process, track, device) is in time order. Values may come long after events
// of the same time.
//
// Memory: what is open (running copies and collectives; at most 8,192 waiting launches per process) and a few hundred
// bytes per device, independent of the number of events.
#pragma once
#include "cli/answers/derived/device_tracks.h"
#include "cli/answers/derived/lost_slices.h"
#include "cli/timeline/gpu/work_classes.h"
#include "cli/trace/event_times.h"

namespace cli {

class Overlay : public EventSink {
 public:
  // The catalogue is complete. Catalogue and sink must outlive this object.
  Overlay(const Catalog& catalog, DerivedSink& sink)
      : catalog_(catalog),
        sink_(sink),
        names_(catalog.strings),
        classes_(catalog),
        window_ns_(busy_window_ns(catalog)),
        queues_(catalog.processes.size()),
        of_track_(catalog.tracks.size()) {
    for (ProcessId id = 0; id < catalog.processes.size(); ++id) memory_.emplace_back(catalog, id, sink);
  }

  // Events arrive in the order of a merged trace: by start_ns, the longer first at equal starts.
  void event(const Event& read, const Facts& facts) override {
    if (!begun_) begin();
    Event event = read;
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

  // Splits the trace: open slices end at `at_ns` and begin again there, and counters repeat their value. `at_ns` must
  // not be before the start of any earlier event or after the start of any later event. Output so far is before at_ns,
  // later output is not. An idle device gets an idle slice up to `at_ns`, even if no work follows.
  void cut(std::int64_t at_ns) {
    if (!begun_) begin();
    for (LaunchQueue& queue : queues_) queue.cut(at_ns);
    for (auto& [key, tracks] : devices_) tracks.cut(at_ns);
    for (MemoryTracks& memory : memory_) memory.cut(at_ns);
  }

  // Call it once after the last event. Emits what is still open.
  void finish() {
    if (!begun_) begin();
    for (LaunchQueue& queue : queues_) queue.finish();
    for (auto& [key, tracks] : devices_) tracks.finish();
    for (MemoryTracks& memory : memory_) memory.finish();
  }

  // Valid after finish(). Returns a sentence for each track that could not be computed, with the reason.
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

}  // namespace cli
