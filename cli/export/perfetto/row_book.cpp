#include "cli/export/perfetto/row_book.h"

#include <algorithm>

namespace cli::perfetto {

void RowBook::begin(const Census& census, std::int64_t origin_ns) {
  origin_ns_ = origin_ns;
  processes_ = process_rows(catalog_, census);
  rows_ = track_rows(catalog_, census, processes_);
  tracks_.begin(catalog_, processes_, origin_ns_);
  lanes_.resize(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Track& track = catalog_.tracks[i];
    if (!rows_[i].shown) continue;
    lanes_[i] = std::make_unique<TrackLanes>(track.kind, rows_[i], processes_[track.process]);
  }
}

Sequence& RowBook::place(const Event& event, std::int64_t end_ns) {
  return sequence(event.track, lanes_[event.track]->place(event, end_ns));
}

Sequence& RowBook::sequence(TrackId track, TrackLanes::Row& row) {
  if (row.output != 0) return sequences_[row.output - 1];
  const bool first = &row == &lanes_[track]->base();
  if (!first) ++extra_lanes_;
  Sequence& made = open(describe(track, row, first));
  row.output = sequences_.size();
  return made;
}

Sequence& RowBook::open(Uuid track) {
  Sequence& made = sequences_.emplace_back();
  made.id = static_cast<std::uint32_t>(sequences_.size() + 1);
  packets_.open(made, track, origin_ns_);
  return made;
}

Uuid RowBook::describe(TrackId track, const TrackLanes::Row& row, bool first) {
  const Track& t = catalog_.tracks[track];
  if (t.kind == TrackKind::thread && first) return tracks_.thread(t.process, row.tid, row.name, row.sort_index);
  const Uuid parent = t.kind == TrackKind::stream ? tracks_.device(t.process, t.group) : tracks_.process(t.process);
  return tracks_.row(parent, row.name, row.sort_index);
}

Sequence& RowBook::place(const Derived& slice) {
  Computed& made = computed_[{slice.process, slice.row, slice.device}];
  const std::size_t lane = made.lanes.place(slice.start_ns, slice.start_ns + slice.duration_ns);
  if (lane < made.rows.size()) return *made.rows[lane];
  std::string name(cli::row(slice.row).name);
  if (lane > 0) name += " (" + std::to_string(lane + 1) + ')';
  const Uuid parent = tracks_.device(slice.process, slice.device);
  Sequence& sequence = open(tracks_.row(parent, name, static_cast<std::size_t>(slice.row)));
  made.rows.push_back(&sequence);
  return sequence;
}

OpenSlice* RowBook::covering(TrackId track, std::int64_t time_ns) {
  const auto bound = lanes_[track]->covering(time_ns);
  if (!bound || bound->row->output == 0) return nullptr;
  auto& open = sequences_[bound->row->output - 1].open;
  const auto found = std::find_if(open.rbegin(), open.rend(), [&](const OpenSlice& slice) {
    return slice.start_ns == bound->start_ns && slice.end_ns == bound->end_ns;
  });
  return found == open.rend() ? nullptr : &*found;
}

}  // namespace cli::perfetto
