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
//   allocated, reserved   from PyTorch's allocator; in recordings: allocated minus released, if all is known
// Per process: lost data, in the time in which it must have happened (lost_slices.h).
//
// A counter has one value per moment and a new one only on a change. Order: the lost tracks come first, before the
// first event, by start; then each track (process, track, device) is in time order. Values may come long after events
// of the same time.
//
// Memory: what is open (running copies and collectives; at most 8,192 waiting launches per process) and a few hundred
// bytes per device, independent of the number of events.
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
  // The catalogue is complete. Catalogue and sink must outlive this object.
  Overlay(const Catalog& catalog, DerivedSink& sink);
  ~Overlay() override;

  // Events arrive in the order of a merged trace: by start_ns, the longer first at equal starts.
  void event(const Event& event, const Facts& facts) override;

  // Splits the trace: open slices end at `at_ns` and begin again there, and counters repeat their value. `at_ns` must
  // not be before the start of any earlier event or after the start of any later event. Output so far is before at_ns,
  // later output is not. An idle device gets an idle slice up to `at_ns`, even if no work follows.
  void cut(std::int64_t at_ns);

  // Call it once after the last event. Emits what is still open.
  void finish();

  // Valid after finish(). Returns a sentence for each track that could not be computed, with the reason.
  std::vector<std::string> notes() const;

 private:
  class Rooms;
  std::unique_ptr<Rooms> rooms_;
};

}  // namespace cli
