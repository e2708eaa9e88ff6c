#include "cli/formats/perfetto/moment.h"

#include "cli/trace/slice.h"

namespace cli::perfetto {
namespace {

constexpr std::size_t kSearched = 256;  // of the slices that start at one time, for the one that a flow belongs to

}  // namespace

Moment::Held* Moment::find(const Event& flow, TrackId track) {
  Held* found = nullptr;
  for (std::size_t i = used_, searched = 0; i-- > 0 && searched < kSearched; ++searched) {
    Held& held = events_[i];
    if (held.event.track != track || !is_slice(held.event)) continue;
    const bool same_call = held.event.correlation != 0 && held.event.correlation == flow.correlation;
    if (same_call || found == nullptr) found = &held;
    if (same_call) break;
  }
  return found;
}

}  // namespace cli::perfetto
