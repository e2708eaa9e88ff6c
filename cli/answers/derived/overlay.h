// Tracks that are computed from the events (cli/trace/derived.h): what a person would otherwise measure by eye. It takes all
// events of a trace once, in their order, and gives what it knows as soon as it knows it, so an export that shows only
// a part of the events still gets true gaps and counters: hand all events here, and clip what comes out.
//
// Of a device (GPU work: kernels, copies, sets, whole graphs, on streams; waits are not work):
//   idle            from the end of all work so far to the start of the next; device_tracks.h says what is too short to write
//   exposed         communication runs and no other kernel (cli/timeline/gpu/work_classes.h; a whole graph counts as the other)
//   launch queue    launches whose work has not begun
//   copies          bytes / duration of each copy while it runs, added up per direction
//   busy            percent of a window in which any work ran
//   in flight       communication that runs: kernels, and copies that stand for one
//   allocated, reserved   as PyTorch's allocator says; of our recordings: allocated less released, when all is known
// Of a process: what was lost, in the time in which it must have happened (lost_slices.h).
//
// A counter has one value per moment, and a new one only where it changes. Order: the lost tracks come first, before the
// first event is looked at, by start; then per track (process, track, device) by time. Values may come long after events of
// the same time.
//
// Memory: what is open (copies and collectives that run; launches that wait, 8,192 per process at most) and a few
// hundred bytes per device; nothing grows with the number of events.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/derived.h"
#include "cli/trace/payload.h"

namespace cli {

class Overlay : public EventSink {
 public:
  // The catalogue is complete and outlives it, as does the sink.
  Overlay(const Catalog& catalog, DerivedSink& sink);
  ~Overlay() override;

  // By start_ns ascending, the longer first at equal starts: the order of a merged trace.
  void event(const Event& event, const Facts& facts) override;

  // Here the trace is split: what is open ends here, and what goes on begins again here, counters with their value.
  // `at_ns` is not before the start of any event so far, nor after that of any to come. What it emits lies before
  // at_ns; what comes later does not. A device that is idle is written idle up to here, work to follow or not.
  void cut(std::int64_t at_ns);

  // After the last event, once: what is still open.
  void finish();

  // After finish(): a sentence for each track that could not be computed, with the reason.
  std::vector<std::string> notes() const;

 private:
  class Rooms;
  std::unique_ptr<Rooms> rooms_;
};

}  // namespace cli
