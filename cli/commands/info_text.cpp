#include "cli/commands/info_text.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/base/json_text.h"
#include "cli/base/terminal.h"
#include "cli/base/text.h"
#include "cli/commands/clock_report.h"
#include "cli/trace/event.h"
#include "cli/trace/losses.h"
#include "cli/trace/ranks.h"
#include "cli/trace/words.h"

namespace cli {

namespace {

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string number_or(std::int64_t value, const char* unknown) {
  return value < 0 ? unknown : fmt::format("{}", value);
}

std::string name_of(const Process& process) {
  if (process.rank < 0) return process.source;
  return fmt::format("rank {}{}{}", process.rank, process.phase.empty() ? "" : " ", process.phase);
}

// Returns "12 kernel, 3 runtime"; "" if all are 0.
std::string list(const KindCounts& counts, std::size_t from) {
  std::string out;
  for (std::size_t kind = from; kind < counts.size(); ++kind) {
    if (counts[kind] != 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", counts[kind], kKinds[kind].name);
  }
  return out;
}

std::string ranks_table(const Catalog& catalog, const std::vector<bool>& beside) {
  std::vector<std::string> head{"rank", "host", "pid", "device", "span"};
  for (std::size_t kind = 0; kind < kRecordedKinds; ++kind) {
    const bool calls = static_cast<Kind>(kind) == Kind::nccl;  // host calls; the kernels that they launch are separate
    head.push_back(fmt::format("{}{}", kKinds[kind].name, calls ? " calls" : ""));
  }
  head.insert(head.end(), {"other", "state"});
  Table table(head);
  for (ProcessId id = 0; id < catalog.processes.size(); ++id) {
    if (beside[id]) continue;
    const Process& process = catalog.processes[id];
    std::vector<std::string> row{number_or(process.rank, "?") + (process.phase.empty() ? "" : ' ' + process.phase),
                                 or_dash(process.host), number_or(process.pid, "?"), or_dash(process.device_name),
                                 duration_text(process.last_ns - process.first_ns)};
    std::uint64_t others = total(process.counts);
    for (std::size_t kind = 0; kind < kRecordedKinds; ++kind) {
      row.push_back(fmt::format("{}", process.counts[kind]));
      others -= process.counts[kind];
    }
    row.insert(row.end(), {fmt::format("{}", others), std::string(word(process.state))});
    table.add(row);
  }
  return table.text();
}

std::string beside_text(const Catalog& catalog, const std::vector<bool>& beside) {
  std::string out;
  for (ProcessId id = 0; id < catalog.processes.size(); ++id) {
    const Process& process = catalog.processes[id];
    if (!beside[id]) continue;
    add_line(out, "process without a rank: {} on {}, {}, {}; it has no GPU work and appears in exports only",
             process_words(process), or_dash(process.host), count_text(total(process.counts), "event"),
             word(process.state));
  }
  return out;
}

std::string summary(const Catalog& catalog) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = std::numeric_limits<std::int64_t>::min();
  std::set<std::string> hosts;
  KindCounts counts{};
  for (const Process& process : catalog.processes) {
    if (!process.host.empty()) hosts.insert(process.host);
    for (std::size_t kind = 0; kind < counts.size(); ++kind) counts[kind] += process.counts[kind];
    if (total(process.counts) == 0) continue;
    first = std::min(first, process.first_ns);
    last = std::max(last, process.last_ns);
  }
  const std::size_t processes = catalog.processes.size();
  std::string out = fmt::format("{} process{}, {} host{} with a name, {} events over {}\n", processes,
                                processes == 1 ? "" : "es", hosts.size(), hosts.size() == 1 ? "" : "s", total(counts),
                                first > last ? "no time" : duration_text(last - first));
  if (const std::string others = list(counts, kRecordedKinds); !others.empty()) out += "other: " + others + "\n";
  return out;
}

std::string losses(const Process& process) {
  std::string out;
  if (process.format == SourceFormat::ring && !process.cut.empty())
    add_line(out, "{}: {}", name_of(process), process.cut);
  if (overwrote(process))
    add_line(out, "{}: {} (increase TRACETOOL_BUFFER to keep more)", name_of(process), overwritten_text(process));
  if (left_unrecorded(process) && process.format == SourceFormat::ring) {  // for other files, the notes report it
    add_line(out, "{}: {}", name_of(process), unrecorded_text(process));
  }
  return out;
}

// Returns the notes of all processes. Ranks with the same note share a line.
std::string notes_text(const Catalog& catalog) {
  std::vector<std::pair<std::string_view, std::vector<const Process*>>> notes;
  for (const Process& process : catalog.processes) {
    for (const std::string& note : process.notes) {
      auto found = std::ranges::find(notes, note, [](const auto& each) { return each.first; });
      if (found == notes.end()) found = notes.insert(found, {note, {}});
      found->second.push_back(&process);
    }
  }
  std::string out;
  for (const auto& [note, processes] : notes) {
    std::vector<std::int64_t> ranks;
    for (const Process* process : processes) {
      if (process->rank >= 0 && process->phase.empty())
        ranks.push_back(process->rank);
      else
        add_line(out, "{}: {}", name_of(*process), note);
    }
    if (!ranks.empty()) add_line(out, "{}: {}", rank_list(std::move(ranks)), note);
  }
  return out;
}

std::string next_step(const Catalog& catalog, const InfoInput& input) {
  if (input.merged) return fmt::format("next: tracetool open {}  # in ui.perfetto.dev\n", input.inputs);
  const auto beside = static_cast<std::size_t>(std::ranges::count(beside_ranks(catalog), true));
  const auto unknown = static_cast<std::size_t>(
      std::ranges::count_if(catalog.processes, [](const Process& process) { return process.rank < 0; }));
  const bool several = catalog.processes.size() > 1;
  return fmt::format("next: tracetool merge {}{}\n", input.inputs,
                     unknown > beside && several ? "  # with --rank N=FILE for files without a rank" : "");
}

std::string driver_text(std::uint32_t version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

// 22809 is 2.28.9. Before 2.9 the form was 2804 for 2.8.4.
std::string nccl_text(std::uint32_t version) {
  if (version < 10'000) return fmt::format("{}.{}.{}", version / 1000, version % 1000 / 100, version % 100);
  return fmt::format("{}.{}.{}", version / 10'000, version % 10'000 / 100, version % 100);
}

std::string cupti_text(const Recorder& r) {
  if (r.cupti_state == trace::SourceState::taken)
    return "CUPTI in use by " + (r.cupti_holder.empty() ? "another tool" : r.cupti_holder);
  if (r.cupti_state == trace::SourceState::failed && r.cupti_error == 0) return "no libcupti found";
  if (r.cupti_state == trace::SourceState::failed) return fmt::format("CUPTI failed with error {}", r.cupti_error);
  return r.cupti_state == trace::SourceState::on ? fmt::format("CUPTI {}", r.cupti_version) : "CUPTI off";
}

std::string line_of(const Recorder& r) {
  std::string text = fmt::format("recorded by tracetool {}, ", r.agent_version);
  if (!r.events.empty()) text += fmt::format("events {}, ", r.events);
  text += fmt::format("mode {}, {}", word(r.mode), cupti_text(r));
  if (r.cuda_driver_version != 0) text += ", driver " + driver_text(r.cuda_driver_version);
  if (r.nccl_version != 0) text += ", NCCL " + nccl_text(r.nccl_version);
  return text;
}

// Returns the rank without its phase.
std::string rank_or_file(const Process& process) {
  return process.rank < 0 ? process.source : fmt::format("rank {}", process.rank);
}

std::string notices_text(const Catalog& catalog) {
  std::string text;
  for (const Process& process : catalog.processes) {
    for (const Notice& notice : process.notices) {
      const std::int64_t length_ns = notice.end_ns - notice.start_ns;
      std::string line = fmt::format("{}: {}", rank_or_file(process), word(notice.code));
      if (notice.end_ns == 0) line += ", to the end,";
      if (notice.end_ns != 0 && length_ns != 0) line += " of " + duration_text(length_ns);
      line += fmt::format(" at {}", duration_text(std::max<std::int64_t>(notice.start_ns - process.first_ns, 0)));
      add_line(text, notice.text.empty() ? line : line + ": " + notice.text);
    }
  }
  return text;
}

std::string newest_work_text(const Process& process) {
  const Recorder& r = process.recorder;
  const std::optional<std::int64_t> age_ns = newest_gpu_age_ns(process);
  if (r.agent_version.empty() || !age_ns.has_value()) return "";
  std::string text;
  add_line(text, "{}: last recorded GPU activity: {} before the last heartbeat", rank_or_file(process),
           duration_text(*age_ns));
  return text;
}

// Summary of the kernels' launch configurations and streams. For recordings only; Kineto files keep these facts in
// their arguments.
struct LaunchSummary {
  // Different combinations of grid, block, registers, memory, cluster and type; 0 if unknown
  std::size_t configurations = 0;
  std::size_t cooperative = 0, clustered = 0;  // number of these configurations
  std::uint64_t most_cluster_blocks = 0;       // maximum blocks per cluster
  std::uint32_t most_local_bytes_per_thread = 0;
  std::set<std::int64_t> priorities;  // of streams with a known priority; lower numbers run first
};

LaunchSummary launch_summary(const Catalog& catalog) {
  LaunchSummary summary;
  summary.configurations = catalog.launches.size() - 1;  // id 0 is the empty configuration
  for (const Launch& launch : catalog.launches.all()) {
    summary.cooperative += launch.launch_type != 0;
    summary.clustered += launch.has_cluster();
    summary.most_cluster_blocks =
        std::max(summary.most_cluster_blocks, std::uint64_t{launch.cluster[0]} * launch.cluster[1] * launch.cluster[2]);
    summary.most_local_bytes_per_thread = std::max(summary.most_local_bytes_per_thread, launch.local_bytes_per_thread);
  }
  for (const Track& track : catalog.tracks) {
    if (track.kind == TrackKind::stream && track.priority) summary.priorities.insert(*track.priority);
  }
  return summary;
}

std::string text_of(const LaunchSummary& s) {
  if (s.configurations == 0) return {};
  std::string text =
      fmt::format("kernels: {} launch configuration{}", s.configurations, s.configurations == 1 ? "" : "s");
  if (s.cooperative > 0) text += fmt::format(", {} cooperative", s.cooperative);
  if (s.clustered > 0) text += fmt::format(", {} in clusters of up to {} blocks", s.clustered, s.most_cluster_blocks);
  if (s.most_local_bytes_per_thread > 0)
    text += fmt::format(", local memory of up to {} bytes per thread", s.most_local_bytes_per_thread);
  if (s.priorities.size() < 2) return text + '\n';
  const char* before = "; streams of priority ";
  for (const std::int64_t priority : s.priorities) text += std::exchange(before, ", ") + std::to_string(priority);
  return text + '\n';
}

std::string communicator_text(std::uint64_t hash) { return hash == 0 ? "" : fmt::format("{:#018x}", hash); }

void write_recorder(JsonWriter& json, const Recorder& r) {
  if (r.agent_version.empty()) return json.number("recorder", std::optional<int>());
  json.object("recorder", "agent_version", r.agent_version, "events", r.events, "mode", word(r.mode), "cupti_state",
              word(r.cupti_state), "cupti_error", r.cupti_error, "cupti_holder", r.cupti_holder, "cupti_path",
              r.cupti_path, "cupti_version", r.cupti_version, "cuda_driver_version", r.cuda_driver_version,
              "nccl_version", r.nccl_version, "nvtx_state", word(r.nvtx_state), "truncated_names", r.truncated_names,
              "discarded_buffers", r.discarded_buffers, "definitions_missed", r.definitions_missed,
              "invalid_timestamps", r.invalid_timestamps, "stacks_left_out", r.stacks_left_out,
              "operators_without_stack", r.operators_without_stack, "module_names_missed", r.module_names_missed,
              "spool_state", word(r.spool_state), "spool_error", r.spool_error, "spooled_bytes", r.spooled_bytes,
              "local_path", r.local_path, "agent_cpu_ns", r.agent_cpu_ns, "created_ns", r.created_ns, "heartbeat_ns",
              r.heartbeat_ns, "newest_gpu_end_ns", r.newest_gpu_end_ns);
}

// Writes "recorder" (null for foreign traces), "devices", "communicators" and "notices".
void write_recording(JsonWriter& json, const Process& process) {
  write_recorder(json, process.recorder);
  json.array("devices", process.devices, [&](const Device& d) {
    json.object({}, "device", d.device, "name", d.name, "given_name", d.given_name, "uuid", d.uuid, "pci_bus_id",
                d.pci_bus_id, "memory_bytes", d.memory_bytes, "multiprocessors", d.multiprocessors, "compute_major",
                d.compute_major, "compute_minor", d.compute_minor, "core_clock_khz", d.core_clock_khz,
                "memory_bandwidth_kbps", d.memory_bandwidth_kbps);
  });
  json.array("communicators", process.communicators, [&](const Communicator& c) {
    json.object({}, "communicator", communicator_text(c.communicator), "epoch", c.epoch, "rank", known_number(c.rank),
                "ranks", known_number(c.ranks), "device", known_number(c.device), "parent",
                communicator_text(c.parent));
  });
  json.array("notices", process.notices, [&](const Notice& notice) {
    const auto end_ns = notice.end_ns == 0 ? std::nullopt : std::optional(notice.end_ns);
    json.object({}, "what", word(notice.code), "start_ns", notice.start_ns, "end_ns", end_ns, "value", notice.value,
                "text", notice.text);
  });
}

void write_counts(JsonWriter& json, std::string_view key, const KindCounts& counts, std::size_t always) {
  json.open('{', key);
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    if (kind < always || counts[kind] != 0) json.number(kKinds[kind].name, counts[kind]);
  }
  json.close('}');
}

void write_process(JsonWriter& json, const Catalog& catalog, ProcessId id) {
  const Process& process = catalog.processes[id];
  json.open('{');
  json.members("rank", known_number(process.rank), "host", process.host, "pid", known_number(process.pid), "source",
               process.source, "format", word(process.format), "phase", process.phase, "rank_source",
               word(process.rank_source), "local_rank", known_number(process.local_rank), "world_size",
               known_number(process.world_size), "run_id", process.run_id, "program", process.program, "device",
               process.device_name, "state", word(process.state), "start_ns", process.first_ns, "span_ns",
               process.last_ns - process.first_ns);
  write_counts(json, "counts", process.counts, kRecordedKinds);
  json.number("overwritten", total(process.overwritten));
  write_counts(json, "overwritten_by_kind", process.overwritten, 0);
  json.number("lost", total(process.lost) + process.lost_unknown_kind);
  write_counts(json, "lost_by_kind", process.lost, 0);
  json.number("lost_unknown_kind", process.lost_unknown_kind);
  json.array("notes", process.notes);
  write_recording(json, process);
  json.open('[', "streams");
  for (const Track& track : catalog.tracks) {
    if (track.process == id && track.kind == TrackKind::stream)
      json.object({}, "device", track.group, "stream", track.id, "name", track.name, "priority", track.priority);
  }
  json.close(']');
  json.close('}');
}

void write_processes(JsonWriter& json, std::string_view key, const Catalog& catalog, bool are_beside) {
  const std::vector<bool> beside = beside_ranks(catalog);
  json.open('[', key);
  for (ProcessId id = 0; id < catalog.processes.size(); ++id) {
    if (beside[id] == are_beside) write_process(json, catalog, id);
  }
  json.close(']');
}

}  // namespace

std::string recorder_text(const Catalog& catalog) {
  std::map<std::string, std::vector<std::int64_t>> ranks;
  const std::vector<bool> beside = beside_ranks(catalog);
  for (ProcessId id = 0; id < catalog.processes.size(); ++id) {
    const Process& process = catalog.processes[id];
    if (!process.recorder.agent_version.empty() && !beside[id])
      ranks[line_of(process.recorder)].push_back(process.rank);
  }
  std::string text;
  for (auto& [line, who] : ranks)
    add_line(text,
             who == std::vector<std::int64_t>{-1} ? line : fmt::format("{}: {}", line, rank_list(std::move(who))));
  return text;
}

std::string info_text(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<std::string>& notes,
                      const InfoInput& input) {
  const std::vector<bool> beside = beside_ranks(catalog);
  std::string out = ranks_table(catalog, beside) + "\n" + beside_text(catalog, beside) + summary(catalog);
  if (const std::string clocks = clocks_text(catalog, fits); !clocks.empty()) add_line(out, clocks);
  out += text_of(launch_summary(catalog)) + recorder_text(catalog);
  for (const Process& process : catalog.processes) out += losses(process) + newest_work_text(process);
  out += notes_text(catalog);
  out += notices_text(catalog);
  for (const std::string& found : input.steps) add_line(out, found);
  for (const std::string& note : notes) add_line(out, "note: {}", note);
  return out + next_step(catalog, input);
}

void write_info_json(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<std::string>& notes,
                     ByteSink& sink) {
  const LaunchSummary launches = launch_summary(catalog);
  write_json(sink, [&](JsonWriter& json) {
    write_processes(json, "ranks", catalog, false);
    write_processes(json, "beside_ranks", catalog, true);
    write_clocks("clocks", fits, json);
    json.object("launches", "configurations", launches.configurations, "cooperative", launches.cooperative, "clustered",
                launches.clustered, "most_cluster_blocks", launches.most_cluster_blocks, "most_local_bytes_per_thread",
                launches.most_local_bytes_per_thread);
    json.array("notes", notes);
  });
}

}  // namespace cli
