#include "cli/formats/kineto/locations.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/base/text.h"
#include "cli/formats/json/json_values.h"
#include "common/hash.h"

namespace cli::kineto {
namespace {

constexpr std::string_view kStreamPrefix = "stream ";

// Returns the number in a pid or tid, also within quotes. A missing one is 0, as in Chrome. -1 may be written as
// 2^64-1.
std::optional<std::int64_t> number_in(const JsonScalar& scalar) {
  if (scalar.empty()) return 0;
  if (const auto number = to_int64(scalar.text)) return number;
  const auto number = to_uint64(scalar.text);
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

// Returns the last number in a text: 0 for "[TP00] 0".
std::optional<std::int64_t> last_number(std::string_view text) {
  while (!text.empty() && !is_digit(text.back())) text.remove_suffix(1);
  std::size_t begin = text.size();
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  return to_int64(text.substr(begin));
}

// Returns 7 for "stream 7 (high)", 22 for "Stream #22(Memcpy)", 5 for "5".
std::optional<std::int64_t> stream_number(std::string_view text) {
  const std::size_t word = text.find("tream");
  if (word == text.npos) return to_int64(text);
  text.remove_prefix(std::min(text.size(), text.find_first_of("0123456789", word)));
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  return to_int64(text.substr(0, digits));
}

// Recognizes "4 GPU2": the row of a GPU in the results.json of rocprof (ROCm 3 to 6).
bool is_rocprof_gpu(std::string_view name) {
  const std::size_t word = name.find(" GPU");
  return word != 0 && word != name.npos && std::all_of(name.begin(), name.begin() + word, is_digit) &&
         word + 4 < name.size() && std::all_of(name.begin() + word + 4, name.end(), is_digit);
}

void add_id(std::string& ids, std::string_view key, const JsonScalar& scalar) {
  if (scalar.form == JsonScalar::Form::absent) return;
  const std::string_view quote = scalar.is_string() ? "\"" : "";
  ids.append(ids.empty() ? "\"" : ", \"").append(key).append("\": ");
  ids.append(quote).append(scalar.text).append(quote);
}

std::string ids_text(const JsonScalar& pid, const JsonScalar& tid) {
  std::string ids;
  add_id(ids, "pid", pid);
  add_id(ids, "tid", tid);
  return ids;
}

std::string_view pid_in(std::string_view ids) { return ids.substr(0, ids.find(", \"tid\"")); }

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

std::size_t Locations::KeyHash::operator()(const Key& key) const {
  const auto pid = trace::spread(static_cast<std::uint64_t>(key.pid));
  const auto tid = trace::spread(static_cast<std::uint64_t>(key.tid) ^ pid >> 32);
  return static_cast<std::size_t>((pid ^ (tid >> 29) ^ tid) + static_cast<std::uint64_t>(key.form));
}

Locations::Key Locations::key_of(const JsonScalar& pid, const JsonScalar& tid) {
  const auto pid_number = number_in(pid);
  const auto tid_number = number_in(tid);
  if (pid_number && tid_number) return {Location::Form::numbers, *pid_number, *tid_number};
  if (pid_number && tid.text.starts_with(kStreamPrefix)) {
    const auto stream = to_int64(tid.text.substr(kStreamPrefix.size()));
    if (stream) return {Location::Form::stream_name, *pid_number, *stream};
  }
  std::string scratch;
  const StringId pid_text = catalog_.strings.intern(unescape_json(pid.text, scratch));
  const StringId tid_text = catalog_.strings.intern(unescape_json(tid.text, scratch));
  return {Location::Form::text, pid_text, tid_text};
}

Location& Locations::find(const JsonScalar& pid, const JsonScalar& tid) {
  const Key key = key_of(pid, tid);
  const auto [at, added] = locations_.try_emplace(key);
  if (added) {
    at->second.form = key.form;
    at->second.pid = key.pid;
    at->second.tid = at->second.track_number = key.tid;
    if (key.form == Location::Form::text) {
      const std::int64_t counted =
          text_tids_.try_emplace(static_cast<StringId>(key.tid), text_tids_.size()).first->second;
      at->second.track_number = stream_number(text(key.tid)).value_or(counted);
    }
    at->second.ids = ids_text(pid, tid);
    at->second.text_pid = pid.is_string();
    at->second.text_tid = tid.is_string();
    in_order_.push_back(&at->second);
  }
  return at->second;
}

TrackId Locations::track(Location& location, const Category& category, char phase, std::optional<std::int64_t> device) {
  if (category.on_stream)
    ++location.gpu_events;
  else if (category.on_thread)
    ++location.host_events;
  location.has_operators |= category.kind == Kind::cpu_op;
  location.has_calls |= is_api_call(category.kind);
  if (!is_stream(location, category, phase)) return thread_track(location, category.on_thread);
  return stream_track(location, device);
}

// The track of a flow end or a mark follows only from its pair of ids, so it is the track already used there.
bool Locations::is_stream(const Location& location, const Category& category, char phase) const {
  if (category.on_stream || location.form == Location::Form::stream_name) return true;
  if (category.on_thread) return false;
  const bool work_end = category.launch_flow && phase == 'f';
  if (location.stream) return work_end || !location.thread;
  return work_end && !location.thread && location.form != Location::Form::text && gpu_pids_.contains(location.pid);
}

TrackId Locations::stream_track(Location& location, std::optional<std::int64_t> device) {
  const bool is_text = location.form == Location::Form::text;
  const auto named = process_names_.find(location.pid);
  const bool names_device = !is_text && named != process_names_.end() &&
                            (named->second.starts_with("/device:") || is_rocprof_gpu(named->second));
  const std::int64_t of_pid = names_device ? last_number(named->second).value_or(location.pid)
                              : is_text    ? last_number(text(location.pid)).value_or(0)
                                           : location.pid;
  const std::int64_t wanted = device ? *device : location.stream ? location.device : of_pid;
  if (location.stream && location.device == wanted) return *location.stream;
  if (!is_text) gpu_pids_.insert(location.pid);
  location.device = wanted;
  location.stream = track_of(location, TrackKind::stream, gpu_of(location, wanted), is_text ? text(location.tid) : "");
  if (is_text) catalog_.tracks[*location.stream].name = text(location.tid);
  return *location.stream;
}

std::int64_t Locations::gpu_of(const Location& location, std::int64_t device) {
  const auto is_free = [&](std::int64_t gpu) {
    return std::none_of(gpus_.begin(), gpus_.end(), [&](const auto& known) { return known.second == gpu; });
  };
  const std::string pid(location.form == Location::Form::text ? text(location.pid) : std::to_string(location.pid));
  const auto known = gpus_.find({pid, device});
  if (known != gpus_.end()) return known->second;
  std::int64_t gpu = device;
  if (!is_free(gpu)) {
    for (gpu = 0; !is_free(gpu);) ++gpu;
  }
  gpus_[{pid, device}] = gpu;
  return gpu;
}

// Two locations that would share a track (streams with one number under two pids) stay separate, so that each event can
// be written with its own pid and tid.
TrackId Locations::track_of(const Location& location, TrackKind kind, std::int64_t group, std::string_view group_name) {
  const auto own = [&](std::string_view ids) {
    return location.form == Location::Form::text ? ids.substr(0, ids.find('\n')) : pid_in(ids);
  };
  TrackId id = catalog_.track(process_, kind, group, location.track_number, group_name);
  const std::string& ids = catalog_.tracks[id].kineto_ids;
  if (!ids.empty() && own(ids) != own(location.ids)) {
    id = catalog_.track(process_, kind, group, location.track_number, own(location.ids));
  }
  if (catalog_.tracks[id].kineto_ids.empty()) catalog_.tracks[id].kineto_ids = location.ids;
  return id;
}

bool Locations::is_device_row(const Location& location) const {
  const std::string_view name = location.name;
  if (name.starts_with("Stream ")) return true;
  const auto process = process_names_.find(location.pid);
  if (process == process_names_.end()) return false;
  return is_rocprof_gpu(process->second) || (name == "XLA Ops" && process->second.starts_with("/device:TPU"));
}

// A third spelling, which does not occur in practice, would be written like the first.
bool Locations::second_ids(const Location& location, TrackId track, const JsonScalar& pid, const JsonScalar& tid) {
  std::string& all_ids = catalog_.tracks[track].kineto_ids;
  const std::size_t first = std::min(all_ids.find('\n'), all_ids.size());
  const bool as_location = location.text_pid == pid.is_string() && location.text_tid == tid.is_string();
  if (as_location && std::string_view(all_ids).substr(0, first) == location.ids) return false;
  const std::string ids = ids_text(pid, tid);
  if (std::string_view(all_ids).substr(0, first) == ids) return false;
  if (first == all_ids.size()) all_ids.append("\n").append(ids);
  return std::string_view(all_ids).substr(first + 1) == ids;
}

TrackId Locations::thread_track(Location& location, bool host_thread) {
  if (location.thread) return *location.thread;
  if (location.form == Location::Form::text) {
    const std::string_view pid = text(location.pid);
    location.thread = host_thread ? track_of(location, TrackKind::thread, last_number(pid).value_or(-1), pid)
                                  : track_of(location, TrackKind::other, -1, pid);
    catalog_.tracks[*location.thread].name = text(location.tid);
  } else {
    location.thread = track_of(location, TrackKind::thread, location.pid);
  }
  return *location.thread;
}

void Locations::name_tracks(const Location& location) {
  if (location.name.empty()) return;
  const bool for_stream = location.stream && (!location.thread || location.name.starts_with(kStreamPrefix));
  if (for_stream)
    catalog_.tracks[*location.stream].name = location.name;
  else if (location.thread)
    catalog_.tracks[*location.thread].name = location.name;
}

// A process has operators and CUDA calls. In a container they may have different pids.
std::size_t Locations::count_processes() const {
  using Pid = std::pair<Location::Form, std::int64_t>;
  std::set<Pid> with_operators, with_calls;
  for (const Location* location : in_order_) {
    const Pid pid(location->form == Location::Form::text ? location->form : Location::Form::numbers, location->pid);
    if (location->has_operators) with_operators.insert(pid);
    if (location->has_calls) with_calls.insert(pid);
  }
  return std::max(with_operators.size(), with_calls.size());
}

// Finds which process of the file launched the work of each GPU (Track::launcher): the one whose pid begins with the
// same text ("[TP00] 5000", "[TP00] 0"), or, if there are as many GPUs as processes, the one whose number has the same
// position. Returns how it was found; "" if it is unknown for any GPU.
std::string_view Locations::find_launchers() {
  using Place = std::pair<std::string, std::int64_t>;  // beginning of a pid, and its number
  const auto place = [&](const Location& location) -> Place {
    if (location.form != Location::Form::text) return {{}, location.pid};
    const std::string_view pid = text(location.pid);
    const std::size_t digits = pid.size() - std::min(pid.size(), pid.find_last_not_of("0123456789") + 1);
    return {std::string(pid.substr(0, pid.size() - digits)), last_number(pid).value_or(-1)};
  };
  std::map<Place, std::uint32_t> processes, gpus;
  std::set<std::string> process_texts, gpu_texts;
  for (const Location* location : in_order_) {
    if (location->has_calls) processes.try_emplace(place(*location)), process_texts.insert(place(*location).first);
    if (location->gpu_events > 0) gpus.try_emplace(place(*location)), gpu_texts.insert(place(*location).first);
  }
  if (processes.size() < 2) return {};
  const bool by_text = process_texts.size() == processes.size() && process_texts == gpu_texts;
  if (!by_text && processes.size() != gpus.size()) return {};
  std::uint32_t number = 0;
  for (auto& [of, launcher] : processes) launcher = ++number;
  number = 0;
  for (auto& [of, launcher] : gpus)
    launcher = by_text ? processes.lower_bound({of.first, INT64_MIN})->second : ++number;
  for (const Location* location : in_order_) {
    const auto process = processes.find(place(*location)), gpu = gpus.find(place(*location));
    if (location->thread && process != processes.end()) catalog_.tracks[*location->thread].launcher = process->second;
    if (location->stream && gpu != gpus.end()) catalog_.tracks[*location->stream].launcher = gpu->second;
  }
  return by_text ? ", of the process with the same text before its number"
                 : ", of the processes in the order of their pids";
}

std::int64_t Locations::finish() {
  std::map<std::int64_t, std::uint64_t> host_events, gpu_events;
  for (const Location* location : in_order_) {
    name_tracks(*location);
    if (location->form != Location::Form::numbers || location->pid < 0) continue;
    host_events[location->pid] += location->host_events;
  }
  for (const Location* location : in_order_) {
    if (location->stream) gpu_events[location->device] += location->gpu_events;
  }
  Process& process = catalog_.processes[process_];
  process.pid = most(host_events);
  const auto name = process_names_.find(process.pid);
  if (name != process_names_.end()) process.program = name->second;
  if (const std::size_t processes = count_processes(); processes > 1) {
    process.notes.push_back(
        fmt::format("this file holds {} processes: each pid with GPU work is read as a separate GPU{}", processes,
                    find_launchers()));
  }
  return most(gpu_events);
}

}  // namespace cli::kineto
