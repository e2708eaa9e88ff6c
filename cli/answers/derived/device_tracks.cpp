#include "cli/answers/derived/device_tracks.h"

#include <limits>

namespace cli {
namespace {

std::size_t place(DerivedTrack direction) {
  return static_cast<std::size_t>(direction) - static_cast<std::size_t>(DerivedTrack::copy_h2d);
}

}  // namespace

DeviceTracks::DeviceTracks(TrackOut out, std::int64_t window_ns)
    : out_(out),
      idle_(out),
      busy_(out, window_ns),
      in_flight_track_(out, DerivedTrack::comm_in_flight),
      copy_tracks_{CounterTrack(out, DerivedTrack::copy_h2d), CounterTrack(out, DerivedTrack::copy_d2h), CounterTrack(out, DerivedTrack::copy_d2d),
                 CounterTrack(out, DerivedTrack::copy_peer)},
      queue_(out, DerivedTrack::queue_length) {}

void DeviceTracks::work(const Event& event, std::int64_t end_ns, WorkClass work_class, std::optional<DerivedTrack> direction) {
  intervals_.add(work_class, event.start_ns, end_ns, *this);
  if (work_class == WorkClass::comm) in_flight_.add(event.start_ns, end_ns, 1, flight());
  if (event.kind == Kind::memcpy && direction && event.has_bytes) {
    copies_.add(place(*direction), event.start_ns, end_ns, event.duration_ns, event.bytes, rate());
  }
}

void DeviceTracks::exposed(std::int64_t from_ns, std::int64_t to_ns) {
  DerivedFacts facts;
  facts.length_ns = to_ns - from_ns;
  out_.slice(DerivedTrack::exposed_comm, from_ns, to_ns, facts);
}

void DeviceTracks::cut(std::int64_t at_ns) {
  intervals_.cut(at_ns, *this);
  busy_.cut(at_ns);
  in_flight_.advance(at_ns, flight());
  in_flight_track_.cut(at_ns);
  queue_.cut(at_ns);
  for (std::size_t direction = 0; direction < copy_tracks_.size(); ++direction) {
    copies_.advance(direction, at_ns, rate());
    copy_tracks_[direction].cut(at_ns);
  }
}

void DeviceTracks::finish() {
  intervals_.finish(*this);
  busy_.finish();
  in_flight_.advance(std::numeric_limits<std::int64_t>::max(), flight());
  in_flight_track_.finish();
  queue_.finish();
  for (std::size_t direction = 0; direction < copy_tracks_.size(); ++direction) {
    copies_.advance(direction, std::numeric_limits<std::int64_t>::max(), rate());
    copy_tracks_[direction].finish();
  }
}

}  // namespace cli
