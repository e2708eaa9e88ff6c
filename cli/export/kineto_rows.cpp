#include "cli/export/kineto_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/io/json_text.h"

namespace cli {
namespace {

// Of libkineto's GenericActivityProfiler.cpp and output_json.cpp.
constexpr std::int64_t kGpus = 16, kGpuSortIndex = 5'000'000, kOverheadSortIndex = 0x100000A;
constexpr std::int64_t kSyncTidOffset = 1'000'000, kNoStreamTid = 1, kOverheadPid = -1;
// In a container a process may have the pid of a GPU.
constexpr std::int64_t kHostPidOffset = 10'000'000;
// Rows that are no threads: above Linux's largest thread id, 2^22.
constexpr std::int64_t kFirstTidOfNoThread = 5'000'000;

std::string metadata_event(std::string_view name, std::int64_t pid, std::int64_t tid, std::string_view args) {
  return fmt::format("{{\"ph\": \"M\", \"name\": \"{}\", \"ts\": 0.000, \"pid\": {}, \"tid\": {}, \"args\": {{{}}}}}",
                     name, pid, tid, args);
}

void add(std::string& metadata, std::string_view name, std::int64_t pid, std::int64_t tid, const std::string& args) {
  metadata += (metadata.empty() ? "" : ",\n") + metadata_event(name, pid, tid, args);
}

}  // namespace

KinetoRows::KinetoRows(const Catalog& catalog, ProcessId process)
    : catalog_(catalog), process_(catalog.processes[process]), where_(catalog.tracks.size()) {
  host_pid_ = process_.pid < kGpus ? process_.pid + kHostPidOffset : process_.pid;
}

std::string_view KinetoRows::where(const Event& event, std::string& metadata) {
  const std::string_view kept = catalog_.tracks[event.track].kineto_row;
  const std::size_t first = std::min(kept.find('\n'), kept.size());
  if (!kept.empty()) return event.json.second_row && first < kept.size() ? kept.substr(first + 1) : kept.substr(0, first);
  const Variant which = variant(event);
  std::string& text = where_[event.track][which];
  if (text.empty()) text = describe(row(event.track, which), metadata);
  return text;
}

std::string KinetoRows::main_thread(std::string& metadata) {
  for (TrackId id = 0; id < catalog_.tracks.size(); ++id) {
    const Track& t = catalog_.tracks[id];
    if (&catalog_.processes[t.process] != &process_ || t.kind != TrackKind::thread || t.id != process_.pid) continue;
    std::string& text = where_[id][plain];
    if (text.empty()) text = describe(row(id, plain), metadata);
    return text;
  }
  return describe({host_pid_, process_.pid, fmt::format("thread {}", process_.pid), process_.pid}, metadata);
}

KinetoRows::Variant KinetoRows::variant(const Event& event) const {
  if (event.kind == Kind::overhead) return overhead;
  const bool on_stream = catalog_.tracks[event.track].kind == TrackKind::stream;
  const bool waits = event.kind == Kind::sync && on_stream && catalog_.strings[event.name] == "Stream Sync";
  return waits ? stream_sync : plain;
}

KinetoRows::Row KinetoRows::row(TrackId id, Variant variant) const {
  const Track& t = catalog_.tracks[id];
  const auto named = [&](std::string text) { return t.name.empty() ? text : fmt::format("{} ({})", text, t.name); };
  if (variant == overhead) {
    const bool thread = t.kind == TrackKind::thread;
    return {kOverheadPid, thread ? t.id : t.group, thread ? fmt::format("thread {}", t.id) : t.group_name, t.id};
  }
  if (variant == stream_sync) return {t.group, t.id + kSyncTidOffset, fmt::format("stream {} (sync)", t.id), t.id};
  if (t.kind == TrackKind::stream) return {t.group, t.id, named(fmt::format("stream {}", t.id)), t.id};
  if (t.kind == TrackKind::thread) return {host_pid_, t.id, named(fmt::format("thread {}", t.id)), t.id};
  Row row = other_row(t);
  if (row.pid == host_pid_) row.tid = kFirstTidOfNoThread + id, row.sort_index = row.tid;
  return row;
}

// Waits of a whole device are drawn on the GPU: Kineto's row for no stream.
KinetoRows::Row KinetoRows::other_row(const Track& track) const {
  if (track.group_name.ends_with(" waits")) return {track.group, kNoStreamTid, track.group_name, kNoStreamTid};
  return {host_pid_, 0, track.group_name, 0};
}

std::string KinetoRows::describe(const Row& row, std::string& metadata) {
  if (described_.insert(row.pid).second) describe_process(row.pid, metadata);
  add(metadata, "thread_name", row.pid, row.tid, "\"name\": " + json_quoted(row.name));
  add(metadata, "thread_sort_index", row.pid, row.tid, fmt::format("\"sort_index\": {}", row.sort_index));
  return fmt::format("\"pid\": {}, \"tid\": {}", row.pid, row.tid);
}

void KinetoRows::describe_process(std::int64_t pid, std::string& metadata) {
  const bool is_overhead = pid == kOverheadPid, host = pid == host_pid_;
  const std::string name = is_overhead ? "Overhead" : process_.program;
  const std::string label = is_overhead ? "" : host ? "CPU" : fmt::format("GPU {}", pid);
  const std::int64_t index = is_overhead ? kOverheadSortIndex : host ? process_.pid : pid + kGpuSortIndex;
  add(metadata, "process_name", pid, 0, "\"name\": " + json_quoted(name));
  if (!label.empty()) add(metadata, "process_labels", pid, 0, fmt::format("\"labels\": \"{}\"", label));
  add(metadata, "process_sort_index", pid, 0, fmt::format("\"sort_index\": {}", index));
}

}  // namespace cli
