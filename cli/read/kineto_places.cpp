#include "cli/read/kineto_places.h"

#include <algorithm>

#include "cli/read/decimal.h"
#include "cli/read/json_unescape.h"

namespace cli {
namespace {

constexpr std::string_view kStreamPrefix = "stream ";

// The number that a pid or tid is, also within quotes; missing counts as 0, as in Chrome.
std::optional<std::int64_t> number_in(const JsonScalar& scalar) {
  if (scalar.empty()) return 0;
  return to_int64(scalar.text);
}

void add_place(std::string& row, std::string_view key, const JsonScalar& scalar) {
  if (scalar.form == JsonScalar::Form::absent) return;
  const std::string_view quote = scalar.is_string() ? "\"" : "";
  row.append(row.empty() ? "\"" : ", \"").append(key).append("\": ");
  row.append(quote).append(scalar.text).append(quote);
}

std::string row_text(const JsonScalar& pid, const JsonScalar& tid) {
  std::string row;
  add_place(row, "pid", pid);
  add_place(row, "tid", tid);
  return row;
}

std::string_view pid_in(std::string_view row) { return row.substr(0, row.find(", \"tid\"")); }

template <typename Count>
std::int64_t most(const std::map<std::int64_t, Count>& counts) {
  std::int64_t best = -1;
  Count best_count = 0;
  for (const auto& [key, count] : counts) {
    if (count > best_count) best = key, best_count = count;
  }
  return best;
}

}  // namespace

std::size_t KinetoPlaces::KeyHash::operator()(const Key& key) const {
  const auto pid = static_cast<std::uint64_t>(key.pid) * 0x9e3779b97f4a7c15u;
  const auto tid = static_cast<std::uint64_t>(key.tid) * 0xbf58476d1ce4e5b9u;
  return static_cast<std::size_t>((pid ^ (tid >> 29) ^ tid) + static_cast<std::uint64_t>(key.form));
}

KinetoPlaces::Key KinetoPlaces::key_of(const JsonScalar& pid, const JsonScalar& tid) {
  const auto pid_number = number_in(pid);
  const auto tid_number = number_in(tid);
  if (pid_number && tid_number) return {KinetoPlace::Form::numbers, *pid_number, *tid_number};
  if (pid_number && tid.text.starts_with(kStreamPrefix)) {
    const auto stream = to_int64(tid.text.substr(kStreamPrefix.size()));
    if (stream) return {KinetoPlace::Form::stream_name, *pid_number, *stream};
  }
  std::string scratch;
  const StringId pid_text = catalog_.strings.intern(unescape_json(pid.text, scratch));
  const StringId tid_text = catalog_.strings.intern(unescape_json(tid.text, scratch));
  return {KinetoPlace::Form::text, pid_text, tid_text};
}

KinetoPlace& KinetoPlaces::find(const JsonScalar& pid, const JsonScalar& tid) {
  const Key key = key_of(pid, tid);
  const auto [at, added] = places_.try_emplace(key);
  if (added) {
    at->second.form = key.form;
    at->second.pid = key.pid;
    at->second.tid = key.tid;
    at->second.row = row_text(pid, tid);
    at->second.text_pid = pid.is_string(), at->second.text_tid = tid.is_string();
    in_order_.push_back(&at->second);
  }
  return at->second;
}

TrackId KinetoPlaces::track(KinetoPlace& place, const KinetoCategory& category, char phase,
                            std::optional<std::int64_t> device) {
  if (category.on_stream)
    ++place.gpu_events;
  else if (category.on_thread)
    ++place.host_events;
  if (place.form == KinetoPlace::Form::text || !is_stream(place, category, phase)) return thread_track(place);
  return stream_track(place, device);
}

// A flow end or a mark says nothing of its track but the pair; so it joins what was seen there.
bool KinetoPlaces::is_stream(const KinetoPlace& place, const KinetoCategory& category, char phase) const {
  if (category.on_stream || place.form == KinetoPlace::Form::stream_name) return true;
  if (category.on_thread) return false;
  const bool work_end = category.launch_flow && phase == 'f';
  if (place.stream) return work_end || !place.thread;
  return work_end && !place.thread && gpu_pids_.contains(place.pid);
}

TrackId KinetoPlaces::stream_track(KinetoPlace& place, std::optional<std::int64_t> device) {
  const std::int64_t wanted = device ? *device : place.stream ? place.device : place.pid;
  if (place.stream && place.device == wanted) return *place.stream;
  gpu_pids_.insert(place.pid);
  place.device = wanted;
  place.stream = track_of(place, TrackKind::stream, wanted);
  return *place.stream;
}

// Two places that would share a track (streams of one number, under two pids) stay apart, so that each event can be
// written back with its own pid and tid.
TrackId KinetoPlaces::track_of(const KinetoPlace& place, TrackKind kind, std::int64_t group,
                               std::string_view group_name) {
  TrackId id = catalog_.track(process_, kind, group, place.tid, group_name);
  const std::string& row = catalog_.tracks[id].kineto_row;
  if (!row.empty() && pid_in(row) != pid_in(place.row)) {
    id = catalog_.track(process_, kind, group, place.tid, pid_in(place.row));
  }
  if (catalog_.tracks[id].kineto_row.empty()) catalog_.tracks[id].kineto_row = place.row;
  return id;
}

// A third spelling would be written back as the first; nobody has three.
bool KinetoPlaces::second_row(const KinetoPlace& place, TrackId track, const JsonScalar& pid, const JsonScalar& tid) {
  std::string& rows = catalog_.tracks[track].kineto_row;
  const std::size_t first = std::min(rows.find('\n'), rows.size());
  const bool as_place = place.text_pid == pid.is_string() && place.text_tid == tid.is_string();
  if (as_place && std::string_view(rows).substr(0, first) == place.row) return false;
  const std::string row = row_text(pid, tid);
  if (std::string_view(rows).substr(0, first) == row) return false;
  if (first == rows.size()) rows.append("\n").append(row);
  return std::string_view(rows).substr(first + 1) == row;
}

TrackId KinetoPlaces::thread_track(KinetoPlace& place) {
  if (place.thread) return *place.thread;
  if (place.form == KinetoPlace::Form::text) {
    const std::string group(catalog_.strings[static_cast<StringId>(place.pid)]);
    place.thread = track_of(place, TrackKind::other, -1, group);
    catalog_.tracks[*place.thread].name = catalog_.strings[static_cast<StringId>(place.tid)];
  } else {
    place.thread = track_of(place, TrackKind::thread, place.pid);
  }
  return *place.thread;
}

void KinetoPlaces::name_tracks(const KinetoPlace& place) {
  if (place.name.empty()) return;
  const bool for_stream = place.stream && (!place.thread || place.name.starts_with(kStreamPrefix));
  if (for_stream)
    catalog_.tracks[*place.stream].name = place.name;
  else if (place.thread)
    catalog_.tracks[*place.thread].name = place.name;
}

std::int64_t KinetoPlaces::finish() {
  std::map<std::int64_t, std::uint64_t> host_events, gpu_events;
  for (const KinetoPlace* place : in_order_) {
    name_tracks(*place);
    if (place->form != KinetoPlace::Form::numbers || place->pid < 0) continue;
    host_events[place->pid] += place->host_events;
  }
  for (const KinetoPlace* place : in_order_) {
    if (place->stream) gpu_events[place->device] += place->gpu_events;
  }
  Process& process = catalog_.processes[process_];
  process.pid = most(host_events);
  const auto name = process_names_.find(process.pid);
  if (name != process_names_.end()) process.program = name->second;
  return most(gpu_events);
}

}  // namespace cli
