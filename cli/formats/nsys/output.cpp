#include "cli/formats/nsys/output.h"

#include <algorithm>

namespace cli::nsys {
namespace {

constexpr std::uint64_t kNoProcess = ~std::uint64_t{0};
constexpr std::int64_t kMost_ns = std::int64_t{1} << 62;

bool is_possible(std::int64_t ns) { return ns > -kMost_ns && ns < kMost_ns; }

}  // namespace

ReportProcess& Output::process(std::optional<std::int64_t> global_id) {
  if (!global_id && processes_.size() == 1) return processes_.front();
  const std::uint64_t key = global_id ? GlobalId(*global_id).process : kNoProcess;
  if (last_ != nullptr && last_->key == key) return *last_;
  const auto found = by_key_.find(key);
  last_ = found != by_key_.end() ? found->second : &add_process(key);
  return *last_;
}

ReportProcess* Output::known_process(std::int64_t global_id) {
  const auto found = by_key_.find(GlobalId(global_id).process);
  return found == by_key_.end() ? nullptr : found->second;
}

ReportProcess& Output::add_process(std::uint64_t key) {
  Process process;
  process.source = database.path();
  process.format = SourceFormat::nsys;
  process.state = RecordingState::clean;
  process.host = session.host;
  // Files that were made by hand have 0.
  const std::int64_t pid = key == kNoProcess ? 0 : GlobalId::pid_of(key);
  process.pid = pid > 0 ? pid : -1;
  ReportProcess& added = processes_.emplace_back();
  added.key = key;
  added.pid = process.pid;
  added.id = catalog.add_process(std::move(process));
  by_key_.emplace(key, &added);
  return added;
}

TrackId Output::thread_track(ReportProcess& process, std::uint32_t tid) {
  const auto [track, is_new] = process.threads.try_emplace(tid, 0);
  if (is_new) track->second = catalog.track(process.id, TrackKind::thread, process.pid, tid);
  return track->second;
}

TrackId Output::stream_track(ReportProcess& process, std::uint32_t device, std::uint32_t stream) {
  const auto [track, is_new] = process.streams.try_emplace(std::uint64_t{device} << 32 | stream, 0);
  if (!is_new) return track->second;
  track->second = catalog.track(process.id, TrackKind::stream, device, stream);
  const auto priority = priorities_.find({process.pid, stream});
  if (priority != priorities_.end()) catalog.tracks[track->second].priority = priority->second;
  return track->second;
}

TrackId Output::gpu_track(ReportProcess& process, std::uint32_t device, std::string_view what) {
  return catalog.track(process.id, TrackKind::other, device, device,
                       "GPU " + std::to_string(device) + ' ' + std::string(what));
}

const Device& Output::device(ReportProcess& process, std::int64_t number) {
  const auto [entry, is_new] = process.devices.try_emplace(number);
  if (is_new) entry->second = gpus.device(process.pid, number);
  return entry->second;
}

bool Output::set_times(Event& event, const Rows& rows, int start, int end) {
  const std::int64_t from = rows.integer(start), to = end < 0 ? from : rows.integer(end);
  const bool is_open = end >= 0 && rows.is_null(end);
  if (rows.is_null(start) || !is_possible(from) || !is_possible(session.origin_ns) ||
      !is_possible(from + session.origin_ns) || (!is_open && (to < from || !is_possible(to)))) {
    ++timeless_rows_;
    return false;
  }
  event.start_ns = from + session.origin_ns;
  event.duration_ns = is_open ? kUnknownDuration : to - from;
  return true;
}

void Output::emit(ReportProcess& process, const Event& event, const Facts& facts) {
  Process& p = catalog.processes[process.id];
  ++p.counts[static_cast<std::size_t>(event.kind)];
  const std::int64_t end = event.start_ns + std::max<std::int64_t>(event.duration_ns, 0);
  p.first_ns = process.any ? std::min(p.first_ns, event.start_ns) : event.start_ns;
  p.last_ns = process.any ? std::max(p.last_ns, end) : end;
  process.any = true;
  sink_.event(event, facts);
}

StringId Output::name(std::optional<std::int64_t> id) {
  if (!id) return 0;
  const auto [entry, is_new] = names_.try_emplace(*id, 0);
  if (is_new) entry->second = intern(texts[*id]);
  return entry->second;
}

}  // namespace cli::nsys
