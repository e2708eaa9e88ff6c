#include "cli/formats/perfetto/track_book.h"

#include <algorithm>

#include "cli/formats/export/derived_text.h"

namespace cli::perfetto {

void TrackBook::begin(const Census& census, std::int64_t origin_ns) {
  origin_ns_ = origin_ns;
  processes_ = process_layouts(catalog_, census);
  layouts_ = track_layouts(catalog_, census, processes_);
  tracks_.begin(catalog_, processes_, origin_ns_);
  lanes_.resize(layouts_.size());
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const Track& track = catalog_.tracks[i];
    if (!layouts_[i].shown) continue;
    lanes_[i] = std::make_unique<TrackLanes>(track.kind, layouts_[i], processes_[track.process]);
  }
}

Sequence& TrackBook::place(const Event& event, std::int64_t end_ns) {
  return sequence(event.track, lanes_[event.track]->place(event, end_ns));
}

Sequence& TrackBook::sequence(TrackId track, TrackLanes::Lane& lane) {
  if (lane.output != 0) return sequences_[lane.output - 1];
  const bool first = &lane == &lanes_[track]->base();
  if (!first) ++extra_lanes_;
  Sequence& made = open(describe(track, lane, first));
  lane.output = sequences_.size();
  return made;
}

Sequence& TrackBook::open(Uuid track) {
  Sequence& made = sequences_.emplace_back();
  made.id = static_cast<std::uint32_t>(sequences_.size() + 1);
  packets_.open(made, track, origin_ns_);
  return made;
}

Uuid TrackBook::describe(TrackId track, const TrackLanes::Lane& lane, bool first) {
  const Track& t = catalog_.tracks[track];
  if (t.kind == TrackKind::thread && first) return tracks_.thread(t.process, lane.tid, lane.name, lane.sort_index);
  const Uuid parent = t.kind == TrackKind::stream ? tracks_.device(t.process, t.group) : tracks_.process(t.process);
  return tracks_.track(parent, lane.name, lane.sort_index);
}

Sequence& TrackBook::place(const Derived& slice) {
  Computed& made = computed_[track_of(slice)];
  const std::size_t lane = made.lanes.place(slice.start_ns, slice.start_ns + slice.duration_ns);
  if (lane < made.sequences.size()) return *made.sequences[lane];
  std::string name = derived_track_name(slice);
  if (lane > 0) name += " (" + std::to_string(lane + 1) + ')';
  const Uuid parent = tracks_.device(slice.process, slice.device);
  Sequence& sequence = open(tracks_.track(parent, name, static_cast<std::size_t>(slice.track)));
  made.sequences.push_back(&sequence);
  return sequence;
}

OpenSlice* TrackBook::covering(TrackId track, std::int64_t time_ns) {
  const auto bound = lanes_[track]->covering(time_ns);
  if (!bound || bound->lane->output == 0) return nullptr;
  auto& open = sequences_[bound->lane->output - 1].open;
  const auto found = std::find_if(open.rbegin(), open.rend(), [&](const OpenSlice& slice) {
    return slice.start_ns == bound->start_ns && slice.end_ns == bound->end_ns;
  });
  return found == open.rend() ? nullptr : &*found;
}

}  // namespace cli::perfetto
