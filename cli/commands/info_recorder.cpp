#include "cli/commands/info_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "cli/base/units.h"
#include "cli/base/visible_text.h"
#include "cli/trace/beside_ranks.h"
#include "cli/trace/device_words.h"
#include "cli/trace/rank_list.h"

namespace cli {
namespace {

std::string driver_text(std::uint32_t version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

// 2.28.9 is 22809; before 2.9 it was 2.8.4 as 2804.
std::string nccl_text(std::uint32_t version) {
  if (version < 10'000) return fmt::format("{}.{}.{}", version / 1000, version % 1000 / 100, version % 100);
  return fmt::format("{}.{}.{}", version / 10'000, version % 10'000 / 100, version % 100);
}

std::string cupti_text(const Recorder& r) {
  if (r.cupti_state == trace::SourceState::taken) return "CUPTI in use by " + (r.cupti_holder.empty() ? "another tool" : r.cupti_holder);
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

std::string rank_or_file(const Process& process) {
  return process.rank < 0 ? process.source : fmt::format("rank {}", process.rank);
}

void write(JsonWriter& json, const Recorder& r) {
  json.open('{', "recorder");
  json.text("agent_version", r.agent_version);
  json.text("events", r.events);
  json.text("mode", word(r.mode));
  json.text("cupti_state", word(r.cupti_state));
  json.number("cupti_error", r.cupti_error);
  json.text("cupti_holder", r.cupti_holder);
  json.text("cupti_path", r.cupti_path);
  json.number("cupti_version", r.cupti_version);
  json.number("cuda_driver_version", r.cuda_driver_version);
  json.number("nccl_version", r.nccl_version);
  json.text("nvtx_state", word(r.nvtx_state));
  json.number("truncated_names", r.clipped_names);
  json.number("discarded_buffers", r.sunk_buffers);
  json.number("definitions_missed", r.definitions_missed);
  json.number("invalid_timestamps", r.odd_times);
  json.number("stacks_left_out", r.stacks_left_out);
  json.number("operators_without_stack", r.operators_without_stack);
  json.number("module_names_missed", r.module_names_missed);
  json.text("spool_state", word(r.spool_state));
  json.number("spool_error", r.spool_error);
  json.number("spooled_bytes", r.spooled_bytes);
  json.text("local_path", r.local_path);
  json.number("agent_cpu_ns", r.agent_cpu_ns);
  json.number("created_ns", r.created_ns);
  json.number("heartbeat_ns", r.heartbeat_ns);
  json.number("newest_gpu_end_ns", r.newest_gpu_end_ns);
  json.close('}');
}

void write(JsonWriter& json, const Device& d) {
  json.open('{');
  json.number("device", d.device);
  json.text("name", d.name);
  json.text("given_name", d.given_name);
  json.text("uuid", d.uuid);
  json.text("pci_bus_id", d.pci_bus_id);
  json.number("memory_bytes", d.memory_bytes);
  json.number("multiprocessors", d.multiprocessors);
  json.number("compute_major", d.compute_major);
  json.number("compute_minor", d.compute_minor);
  json.number("core_clock_khz", d.core_clock_khz);
  json.number("memory_bandwidth_kbps", d.memory_bandwidth_kbps);
  json.close('}');
}

std::string communicator_text(std::uint64_t hash) { return hash == 0 ? "" : fmt::format("{:#018x}", hash); }

void write(JsonWriter& json, const Communicator& c) {
  json.open('{');
  json.text("communicator", communicator_text(c.communicator));
  json.number("epoch", c.epoch);
  json.number("rank", known_number(c.rank));
  json.number("ranks", known_number(c.ranks));
  json.number("device", known_number(c.device));
  json.text("parent", communicator_text(c.parent));
  json.close('}');
}

void write(JsonWriter& json, const Notice& notice) {
  json.open('{');
  json.text("what", word(notice.code));
  json.number("start_ns", notice.start_ns);
  json.number("end_ns", notice.end_ns == 0 ? std::nullopt : std::optional<std::int64_t>(notice.end_ns));
  json.number("value", notice.value);
  json.text("text", notice.text);
  json.close('}');
}

template <typename List>
void write_all(JsonWriter& json, std::string_view key, const List& list) {
  json.open('[', key);
  for (const auto& item : list) write(json, item);
  json.close(']');
}

}  // namespace

std::string recorder_text(const Catalog& catalog) {
  std::map<std::string, std::vector<std::int64_t>> ranks;
  const std::vector<bool> beside = beside_ranks(catalog);
  for (ProcessId id = 0; id < catalog.processes.size(); ++id) {
    const Process& process = catalog.processes[id];
    if (!process.recorder.agent_version.empty() && !beside[id]) ranks[line_of(process.recorder)].push_back(process.rank);
  }
  std::string text;
  for (auto& [line, who] : ranks) add_line(text, who == std::vector<std::int64_t>{-1} ? line : fmt::format("{}: {}", line, rank_list(std::move(who))));
  return text;
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
  add_line(text, "{}: last recorded GPU activity: {} before the last heartbeat", rank_or_file(process), duration_text(*age_ns));
  return text;
}

void write_recorder(JsonWriter& json, const Process& process) {
  if (process.recorder.agent_version.empty()) {
    json.number("recorder", std::optional<int>());
  } else {
    write(json, process.recorder);
  }
  write_all(json, "devices", process.devices);
  write_all(json, "communicators", process.communicators);
  write_all(json, "notices", process.notices);
}

}  // namespace cli
