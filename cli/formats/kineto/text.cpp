#include "cli/formats/kineto/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/base/json_text.h"
#include "cli/trace/event.h"
#include "cli/trace/words.h"

namespace cli::kineto {

void EventText::separate() {
  out_.raw(first_ ? "\n" : ",\n");
  first_ = false;
}

void EventText::lines(std::string_view json) {
  if (json.empty()) return;
  separate();
  out_.raw(json);
}

void EventText::line(const Line& line) {
  separate();
  out_.raw("{\"ph\": \"");
  out_.raw({&line.phase, 1});
  out_.raw("\"");
  if (line.category) member("cat", *line.category);
  member("name", line.name);
  if (!line.ids.empty()) {
    out_.raw(", ");
    out_.raw(line.ids);
  }
  micros("ts",
         static_cast<std::int64_t>(static_cast<std::uint64_t>(line.start_ns) - static_cast<std::uint64_t>(base_ns_)));
  if (line.duration_ns) micros("dur", *line.duration_ns);
  if (line.id) {
    out_.raw(", \"id\": ");
    out_.number(*line.id);
  }
  if (line.scope != 0) member("s", {&line.scope, 1});
  if (line.encloses) out_.raw(", \"bp\": \"e\"");
  arguments(line);
  out_.raw("}");
}

void EventText::member(std::string_view key, std::string_view text) {
  out_.raw(", \"");
  out_.raw(key);
  out_.raw("\": ");
  json_string(out_, text);
}

void EventText::micros(std::string_view key, std::int64_t ns) {
  out_.raw(", \"");
  out_.raw(key);
  out_.raw(ns < 0 ? "\": -" : "\": ");
  out_.micros(ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns));
}

void EventText::arguments(const Line& line) {
  if (line.args.empty() && line.more_args.empty()) return;
  out_.raw(", \"args\": {");
  out_.raw(line.args);
  if (!line.args.empty() && !line.more_args.empty()) out_.raw(", ");
  out_.raw(line.more_args);
  out_.raw("}");
}

namespace {

void add_member(std::string& args, std::string_view key, std::string_view json_value) {
  if (!args.empty()) args += ", ";
  args.append("\"").append(key).append("\": ").append(json_value);
}

void add_number(std::string& args, std::string_view key, std::uint64_t value) {
  char digits[20];
  add_member(args, key, {digits, static_cast<std::size_t>(put_digits(digits, value) - digits)});
}

void add_bandwidth(const Event& event, std::string& args) {
  if (event.duration_ns <= 0) return;
  const double gb_per_s = static_cast<double>(event.bytes) / static_cast<double>(event.duration_ns);
  add_member(args, "memory bandwidth (GB/s)", fmt::format("{}", gb_per_s));
}

// Memory operations of the driver, with the names of PyTorch's allocator for similar operations. The allocator's totals
// are unknown.
void memory_instant(Line& line, const Event& event, const MemoryFacts& facts, std::string& args) {
  const bool host = is_host_memory(facts.memory);
  add_member(args, "operation", json_quoted(line.name));
  add_member(args, "Bytes", fmt::format("{}{}", facts.is_release() ? "-" : "", event.bytes));
  add_member(args, "Addr", fmt::format("{}", facts.address));
  add_member(args, "Device Type", host ? "0" : "1");
  add_member(args, "Device Id", host ? "-1" : fmt::format("{}", facts.device));
  line.name = "[memory]";
}

}  // namespace

std::string_view kineto_category(const Event& event) {
  if (event.phase == 'i') return info(Kind::instant).category;
  switch (event.kind) {
    case Kind::nvtx:
    case Kind::nccl:
      return info(Kind::user_annotation).category;
    case Kind::graph:
      return info(Kind::kernel).category;
    default:
      return info(event.kind).category;
  }
}

void Recording::complete(const Event& event, const Facts& facts, Line& line) {
  args_.clear();
  line.category = kineto_category(event);
  if (event.phase == 'i') line.scope = 't';
  add_correlation(event);
  if (contents_.ranges) add_external_id(event);
  const MemoryFacts* const memory = facts.get<MemoryFacts>();
  if (memory != nullptr && memory->is_known()) {
    memory_instant(line, event, *memory, args_);
  } else if (event.has_bytes) {
    add_number(args_, "bytes", event.bytes);
    if (event.kind == Kind::memcpy || event.kind == Kind::memset) add_bandwidth(event, args_);
  }
  if (event.phase == 'X' && event.duration_ns < 0) add_member(args_, "unfinished", "true");
  if (event.open_start) add_member(args_, "open_start", "true");
  if (const std::string call = collectives_.event(event, facts); !call.empty()) {
    args_ += (args_.empty() ? "" : ", ") + call;
  }
  line.more_args = args_;
}

void Recording::note(const Event& event, const Facts& facts) {
  if (event.kind == Kind::runtime) is_inner_call(event);
  if (contents_.ranges) external_ids_.of(event);
  forward_of(event, facts, {});
  collectives_.event(event, facts);
}

// Kineto has one call per correlation. HTA joins every event with every other one of the same correlation, so two calls
// would duplicate the work in its tables. Other events of a call therefore use another key.
void Recording::add_correlation(const Event& event) {
  if (event.correlation == 0) return;
  const bool joins = is_gpu_work(event.kind) || event.kind == Kind::sync || event.kind == Kind::cuda_event ||
                     (is_api_call(event.kind) && !is_inner_call(event));
  add_number(args_, joins ? "correlation" : "call correlation", event.correlation);
}

// TensorBoard's plugin assigns calls without External id to its first module; 0 means that they belong to no operator.
void Recording::add_external_id(const Event& event) {
  const std::uint64_t id = external_ids_.of(event);
  if (id != 0 || (contents_.operators && (is_api_call(event.kind) || is_gpu_work(event.kind))))
    add_number(args_, "External id", id);
}

// The driver call within a runtime call has its correlation; the outer one is first.
bool Recording::is_inner_call(const Event& event) {
  if (event.kind == Kind::runtime) {
    calls_[event.track] = event.correlation;
    return false;
  }
  const auto outer = calls_.find(event.track);
  return outer != calls_.end() && outer->second == event.correlation;
}

namespace {

// From libkineto's GenericActivityProfiler.cpp and output_json.cpp.
constexpr std::int64_t kGpus = 16, kGpuSortIndex = 5'000'000, kOverheadSortIndex = 0x100000A;
constexpr std::int64_t kSyncTidOffset = 1'000'000, kNoStreamTid = 1, kOverheadPid = -1;
// In a container a process may have the pid of a GPU.
constexpr std::int64_t kHostPidOffset = 10'000'000;
// Ids of tracks that are no threads: above Linux's largest thread id, 2^22.
constexpr std::int64_t kFirstTidOfNoThread = 5'000'000;

std::string metadata_event(std::string_view name, std::int64_t pid, std::int64_t tid, std::string_view args) {
  return fmt::format("{{\"ph\": \"M\", \"name\": \"{}\", \"ts\": 0.000, \"pid\": {}, \"tid\": {}, \"args\": {{{}}}}}",
                     name, pid, tid, args);
}

void add(std::string& metadata, std::string_view name, std::int64_t pid, std::int64_t tid, const std::string& args) {
  metadata += (metadata.empty() ? "" : ",\n") + metadata_event(name, pid, tid, args);
}

}  // namespace

Tracks::Tracks(const Catalog& catalog, ProcessId process)
    : catalog_(catalog), process_(catalog.processes[process]), where_(catalog.tracks.size()) {
  host_pid_ = process_.pid < kGpus ? process_.pid + kHostPidOffset : process_.pid;
}

std::string_view Tracks::where(const Event& event, std::string& metadata) {
  const std::string_view kept = catalog_.tracks[event.track].kineto_ids;
  const std::size_t first = std::min(kept.find('\n'), kept.size());
  if (!kept.empty())
    return event.json.second_ids && first < kept.size() ? kept.substr(first + 1) : kept.substr(0, first);
  const Variant which = variant(event);
  std::string& text = where_[event.track][which];
  if (text.empty()) text = describe(thread(event.track, which), metadata);
  return text;
}

std::optional<TrackId> Tracks::main_track() const {
  for (TrackId id = 0; id < catalog_.tracks.size(); ++id) {
    const Track& t = catalog_.tracks[id];
    if (&catalog_.processes[t.process] == &process_ && t.kind == TrackKind::thread && t.id == process_.pid) return id;
  }
  return std::nullopt;
}

std::string Tracks::main_thread(std::string& metadata) {
  if (const auto id = main_track()) {
    std::string& text = where_[*id][plain];
    if (text.empty()) text = describe(thread(*id, plain), metadata);
    return text;
  }
  return describe({host_pid_, process_.pid, fmt::format("thread {}", process_.pid), process_.pid}, metadata);
}

Tracks::Variant Tracks::variant(const Event& event) const {
  if (event.kind == Kind::overhead) return overhead;
  const bool on_stream = catalog_.tracks[event.track].kind == TrackKind::stream;
  const bool waits = event.kind == Kind::sync && on_stream && catalog_.strings[event.name] == "Stream Sync";
  return waits ? stream_sync : plain;
}

Tracks::Thread Tracks::thread(TrackId id, Variant variant) const {
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

// Synchronizations of a whole device are on the GPU, on Kineto's thread for no stream.
Tracks::Thread Tracks::other_thread(const Track& track) const {
  if (track.group_name.ends_with(" waits")) return {track.group, kNoStreamTid, track.group_name, kNoStreamTid};
  return {host_pid_, 0, track.group_name, 0};
}

std::string Tracks::describe(const Thread& thread, std::string& metadata) {
  if (described_.insert(thread.pid).second) describe_process(thread.pid, metadata);
  add(metadata, "thread_name", thread.pid, thread.tid, "\"name\": " + json_quoted(thread.name));
  add(metadata, "thread_sort_index", thread.pid, thread.tid, fmt::format("\"sort_index\": {}", thread.sort_index));
  return fmt::format("\"pid\": {}, \"tid\": {}", thread.pid, thread.tid);
}

void Tracks::describe_process(std::int64_t pid, std::string& metadata) {
  const bool is_overhead = pid == kOverheadPid, host = pid == host_pid_;
  const std::string name = is_overhead ? "Overhead" : process_.program;
  const std::string label = is_overhead ? "" : host ? "CPU" : fmt::format("GPU {}", pid);
  const std::int64_t index = is_overhead ? kOverheadSortIndex : host ? process_.pid : pid + kGpuSortIndex;
  add(metadata, "process_name", pid, 0, "\"name\": " + json_quoted(name));
  if (!label.empty()) add(metadata, "process_labels", pid, 0, fmt::format("\"labels\": \"{}\"", label));
  add(metadata, "process_sort_index", pid, 0, fmt::format("\"sort_index\": {}", index));
}

}  // namespace cli::kineto
