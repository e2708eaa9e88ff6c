#include "cli/formats/perfetto/tracks.h"

#include <fmt/format.h>

#include <set>

#include "cli/formats/perfetto/sequence.h"
#include "cli/formats/perfetto/trace_attributes.h"
#include "cli/base/json_text.h"
#include "cli/trace/losses.h"

namespace cli::perfetto {
namespace {

constexpr std::uint32_t kSequence = 1;  // of what is no event
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

// The real ones where each is known and no two are the same, as on one host; else ProcessLayout::pid.
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

// Perfetto v58 takes every native file to have times on BOOTTIME, whatever it says and although we use none, and
// reports an error where nothing relates that clock to the time of the trace; of a file that is merged with others it
// then drops every event. No uptime is meant: the wall clock is the only one here, so both tell its time.
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
    // A message without a field would not be written, and the track would be none of a counter.
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

}  // namespace cli::perfetto
