#include "cli/formats/kineto/kineto_tracks.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/base/json_text.h"

namespace cli {
namespace {

// Of libkineto's GenericActivityProfiler.cpp and output_json.cpp.
constexpr std::int64_t kGpus = 16, kGpuSortIndex = 5'000'000, kOverheadSortIndex = 0x100000A;
constexpr std::int64_t kSyncTidOffset = 1'000'000, kNoStreamTid = 1, kOverheadPid = -1;
// In a container a process may have the pid of a GPU.
constexpr std::int64_t kHostPidOffset = 10'000'000;
// Threads that are no threads: above Linux's largest thread id, 2^22.
constexpr std::int64_t kFirstTidOfNoThread = 5'000'000;

std::string metadata_event(std::string_view name, std::int64_t pid, std::int64_t tid, std::string_view args) {
  return fmt::format("{{\"ph\": \"M\", \"name\": \"{}\", \"ts\": 0.000, \"pid\": {}, \"tid\": {}, \"args\": {{{}}}}}",
                     name, pid, tid, args);
}

void add(std::string& metadata, std::string_view name, std::int64_t pid, std::int64_t tid, const std::string& args) {
  metadata += (metadata.empty() ? "" : ",\n") + metadata_event(name, pid, tid, args);
}

}  // namespace

KinetoTracks::KinetoTracks(const Catalog& catalog, ProcessId process)
    : catalog_(catalog), process_(catalog.processes[process]), where_(catalog.tracks.size()) {
  host_pid_ = process_.pid < kGpus ? process_.pid + kHostPidOffset : process_.pid;
}

std::string_view KinetoTracks::where(const Event& event, std::string& metadata) {
  const std::string_view kept = catalog_.tracks[event.track].kineto_ids;
  const std::size_t first = std::min(kept.find('\n'), kept.size());
  if (!kept.empty()) return event.json.second_ids && first < kept.size() ? kept.substr(first + 1) : kept.substr(0, first);
  const Variant which = variant(event);
  std::string& text = where_[event.track][which];
  if (text.empty()) text = describe(thread(event.track, which), metadata);
  return text;
}

std::optional<TrackId> KinetoTracks::main_track() const {
  for (TrackId id = 0; id < catalog_.tracks.size(); ++id) {
    const Track& t = catalog_.tracks[id];
    if (&catalog_.processes[t.process] == &process_ && t.kind == TrackKind::thread && t.id == process_.pid) return id;
  }
  return std::nullopt;
}

std::string KinetoTracks::main_thread(std::string& metadata) {
  if (const auto id = main_track()) {
    std::string& text = where_[*id][plain];
    if (text.empty()) text = describe(thread(*id, plain), metadata);
    return text;
  }
  return describe({host_pid_, process_.pid, fmt::format("thread {}", process_.pid), process_.pid}, metadata);
}

KinetoTracks::Variant KinetoTracks::variant(const Event& event) const {
  if (event.kind == Kind::overhead) return overhead;
  const bool on_stream = catalog_.tracks[event.track].kind == TrackKind::stream;
  const bool waits = event.kind == Kind::sync && on_stream && catalog_.strings[event.name] == "Stream Sync";
  return waits ? stream_sync : plain;
}

KinetoTracks::Thread KinetoTracks::thread(TrackId id, Variant variant) const {
  const Track& t = catalog_.tracks[id];
  const auto named = [&](std::string text) { return t.name.empty() ? text : fmt::format("{} ({})", text, t.name); };
  if (variant == overhead) {
    const bool thread = t.kind == TrackKind::thread;
    return {kOverheadPid, thread ? t.id : t.group, thread ? fmt::format("thread {}", t.id) : t.group_name, t.id};
  }
  if (variant == stream_sync) return {t.group, t.id + kSyncTidOffset, fmt::format("stream {} (sync)", t.id), t.id};
  if (t.kind == TrackKind::stream) return {t.group, t.id, named(fmt::format("stream {}", t.id)), t.id};
  if (t.kind == TrackKind::thread) return {host_pid_, t.id, named(fmt::format("thread {}", t.id)), t.id};
  Thread thread = other_thread(t);
  if (thread.pid == host_pid_) {
    thread.tid = kFirstTidOfNoThread + id;
    thread.sort_index = thread.tid;
  }
  return thread;
}

// Waits of a whole device are written on the GPU: Kineto's thread for no stream.
KinetoTracks::Thread KinetoTracks::other_thread(const Track& track) const {
  if (track.group_name.ends_with(" waits")) return {track.group, kNoStreamTid, track.group_name, kNoStreamTid};
  return {host_pid_, 0, track.group_name, 0};
}

std::string KinetoTracks::describe(const Thread& thread, std::string& metadata) {
  if (described_.insert(thread.pid).second) describe_process(thread.pid, metadata);
  add(metadata, "thread_name", thread.pid, thread.tid, "\"name\": " + json_quoted(thread.name));
  add(metadata, "thread_sort_index", thread.pid, thread.tid, fmt::format("\"sort_index\": {}", thread.sort_index));
  return fmt::format("\"pid\": {}, \"tid\": {}", thread.pid, thread.tid);
}

void KinetoTracks::describe_process(std::int64_t pid, std::string& metadata) {
  const bool is_overhead = pid == kOverheadPid, host = pid == host_pid_;
  const std::string name = is_overhead ? "Overhead" : process_.program;
  const std::string label = is_overhead ? "" : host ? "CPU" : fmt::format("GPU {}", pid);
  const std::int64_t index = is_overhead ? kOverheadSortIndex : host ? process_.pid : pid + kGpuSortIndex;
  add(metadata, "process_name", pid, 0, "\"name\": " + json_quoted(name));
  if (!label.empty()) add(metadata, "process_labels", pid, 0, fmt::format("\"labels\": \"{}\"", label));
  add(metadata, "process_sort_index", pid, 0, fmt::format("\"sort_index\": {}", index));
}

}  // namespace cli
