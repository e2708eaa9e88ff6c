#include "cli/formats/perfetto/tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/base/json_text.h"
#include "cli/formats/export/shared_json.h"
#include "cli/formats/perfetto/pftrace.h"
#include "cli/formats/perfetto/sequence.h"
#include "cli/trace/losses.h"

namespace cli::perfetto {
namespace {

constexpr std::uint32_t kSequence = 1;  // for packets that are no events
constexpr std::int64_t kLargestPid = 1 << 22;
constexpr std::string_view kBytes = "bytes";

void text(Writer& out, Field field, std::string_view value) { out.add_string(field, value.data(), value.size()); }

void head(Writer& out, Uuid uuid, Uuid parent, std::string_view name, std::size_t order) {
  std::string scratch;
  out.add_uint64(track::uuid, uuid);
  if (parent != 0) out.add_uint64(track::parent, parent);
  if (!name.empty()) text(out, track::name, valid_utf8(name, scratch));
  out.add_int32(track::order, static_cast<std::int32_t>(order));
  out.add_uint32(track::merging, track::never_merged);
}

}  // namespace

void Tracks::begin(const Catalog& catalog, const std::vector<ProcessLayout>& layouts, std::int64_t origin_ns) {
  catalog_ = &catalog;
  layouts_ = &layouts;
  processes_.resize(layouts.size());
  choose_pids();
  clock(origin_ns);
  describe(packet::trace_attributes, trace_attributes(catalog, fits_));
  root();
  std::vector<ProcessId> shown;
  for (ProcessId id = 0; id < layouts.size(); ++id) {
    if (layouts[id].shown) shown.push_back(id);
  }
  std::sort(shown.begin(), shown.end(), [&](auto a, auto b) { return layouts[a].order < layouts[b].order; });
  for (const ProcessId id : shown) describe_process(id);
}

// The real pids if all are known and distinct, as on one host; otherwise ProcessLayout::pid.
void Tracks::choose_pids() {
  std::set<std::int64_t> real;
  for (const Process& p : catalog_->processes) {
    if (p.pid > 0 && p.pid <= kLargestPid) real.insert(p.pid);
  }
  const bool unique = real.size() == layouts_->size();
  for (std::size_t i = 0; i < layouts_->size(); ++i) {
    processes_[i].pid = unique ? static_cast<std::uint32_t>(catalog_->processes[i].pid) : (*layouts_)[i].pid;
  }
}

// Perfetto v58 assumes that every native file has times on BOOTTIME, even if none is used, and reports an error if that
// clock is not related to the trace's clock. If the file is merged with others, it then drops every event. No uptime is
// meant: the wall clock is the only clock here, so both have its value.
void Tracks::clock(std::int64_t origin_ns) {
  Buffer body;
  Writer out(body);
  out.add_uint32(packet::sequence, kSequence);
  out.add_uint32(packet::sequence_flags, packet::state_cleared);
  out.add_bool(packet::first_on_sequence, true);
  {
    Writer snapshot(out, packet::clock_snapshot);
    for (const std::uint32_t id : {snapshot::realtime, snapshot::boottime}) {
      Writer clock(snapshot, snapshot::clocks);
      clock.add_uint32(snapshot::clock_id, id);
      clock.add_uint64(snapshot::timestamp, wall_clock(origin_ns));
    }
    snapshot.add_uint32(snapshot::primary_trace_clock, snapshot::realtime);
  }
  stream_.packet(body.view());
}

void Tracks::root() {
  Buffer track;
  Writer out(track);
  out.add_uint64(track::uuid, 0);
  out.add_uint32(track::process_ordering, track::explicit_rows);
  out.add_uint32(track::thread_ordering, track::explicit_rows);
  write(track);
}

Uuid Tracks::process(ProcessId id) {
  if (processes_[id].uuid == 0) describe_process(id);
  return processes_[id].uuid;
}

void Tracks::describe_process(ProcessId id) {
  const ProcessLayout& layout = (*layouts_)[id];
  Buffer track;
  std::string scratch;
  const Process& process = catalog_->processes[id];
  processes_[id].uuid = ++last_;
  {
    Writer out(track);
    head(out, last_, 0, layout.name, layout.order);
    const std::string losses = loss_text(process);
    if (!losses.empty()) text(out, track::description, "not in this recording: " + losses);
    Writer described(out, track::process);
    described.add_int32(track::process_pid, static_cast<std::int32_t>(processes_[id].pid));
    text(described, track::process_name, valid_utf8(layout.name, scratch));
  }
  write(track);
}

Uuid Tracks::thread(ProcessId process, std::uint32_t tid, std::string_view name, std::size_t order) {
  const Uuid parent = this->process(process);
  Buffer track;
  std::string scratch;
  {
    Writer out(track);
    head(out, ++last_, parent, name, order);
    Writer described(out, track::thread);
    described.add_int32(track::thread_pid, static_cast<std::int32_t>(processes_[process].pid));
    described.add_int64(track::thread_tid, tid);
    text(described, track::thread_name, valid_utf8(name, scratch));
  }
  write(track);
  return last_;
}

Uuid Tracks::track(Uuid parent, std::string_view name, std::size_t order) {
  Buffer track;
  Writer out(track);
  head(out, ++last_, parent, name, order);
  out.add_uint32(track::child_ordering, track::explicit_children);
  write(track);
  return last_;
}

Uuid Tracks::counter(Uuid parent, std::string_view name, std::string_view unit, std::size_t order) {
  Buffer track;
  {
    Writer out(track);
    head(out, ++last_, parent, name, order);
    Writer counter(out, track::counter);
    // A message without fields would not be written, and the track would be no counter.
    if (unit.empty()) counter.add_uint32(track::counter_unit, track::unit_unspecified);
    if (unit == kBytes) counter.add_uint32(track::counter_unit, track::unit_bytes);
    if (!unit.empty() && unit != kBytes) text(counter, track::counter_unit_name, unit);
    if (!unit.empty()) text(counter, track::counter_scale, name);
  }
  write(track);
  return last_;
}

Uuid Tracks::device(ProcessId process, std::int64_t device) {
  if (device < 0) return this->process(process);
  Uuid& uuid = devices_[{process, device}];
  if (uuid != 0) return uuid;
  std::string name = fmt::format("GPU {}", device);
  for (const Device& d : catalog_->processes[process].devices) {
    if (d.device == device && !d.name.empty()) name += ' ' + d.name;
  }
  return uuid = track(this->process(process), name, static_cast<std::size_t>(device));
}

void Tracks::describe(Field field, const Buffer& content) {
  Buffer body;
  Writer out(body);
  out.add_uint32(packet::sequence, kSequence);
  out.add_message(field, content.view().data(), content.size());
  stream_.packet(body.view());
}

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
