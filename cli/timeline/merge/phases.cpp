#include "cli/timeline/merge/phases.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <tuple>

#include "cli/timeline/merge/phase_labels.h"

namespace cli {
namespace {

constexpr std::int64_t kDayNs = 86'400'000'000'000;
constexpr std::size_t kPhasesSaid = 3;

bool given(const Process& process) { return process.rank_source == RankSource::option; }

bool has_times(const Process& p) { return p.first_ns != 0 || p.last_ns != 0; }

bool known_apart(const std::string& a, const std::string& b) { return !a.empty() && !b.empty() && a != b; }

bool known_apart(std::int64_t a, std::int64_t b) { return a >= 0 && b >= 0 && a != b; }

std::string fault_of_times(const Process& a, const Process& b) {
  if (!has_times(a) || !has_times(b)) return {};
  if (begin_of(a) > begin_of(b)) return fault_of_times(b, a);
  if (begin_of(b) < a.last_ns) return "their times overlap";
  return begin_of(b) - a.last_ns > kDayNs ? "they are more than a day apart" : "";
}

// What --rank says of two processes is true.
std::string fault_of_process(const Process& a, const Process& b) {
  if (given(a) && given(b)) return {};
  if (known_apart(a.pid, b.pid)) return fmt::format("they belong to different processes, {} and {}", a.pid, b.pid);
  const bool known = (a.pid >= 0 || !has_times(a)) && (b.pid >= 0 || !has_times(b));
  return known ? "" : "it is unknown whether they belong to one process";
}

std::string fault_of_names(const Process& a, const Process& b) {
  if (!a.phase.empty() && !b.phase.empty()) return a.phase != b.phase ? "" : "they have the same phase, " + a.phase;
  const std::vector<std::string> labels = phase_labels({a.source, b.source});
  if (labels[0] == labels[1]) return "they have the same name";
  if ((given(a) && given(b)) || differ_without_numbers(labels) || number_phases(a.source, b.source)) return {};
  return fmt::format("their names look like runs, not phases: \"{0}\" and \"{1}\" (if they are phases, use --rank {2}={3} --rank {2}={4})",
                     labels[0], labels[1], std::max<std::int64_t>(a.rank, 0), a.source, b.source);
}

std::string fault_of_run(const Process& a, const Process& b) {
  if (known_apart(a.host, b.host)) return fmt::format("they are from different hosts, {} and {}", a.host, b.host);
  if (known_apart(a.world_size, b.world_size)) {
    return fmt::format("their runs have {} and {} ranks", a.world_size, b.world_size);
  }
  if (!known_apart(a.device_name, b.device_name)) return {};
  return fmt::format("their GPUs differ, {} and {}", a.device_name, b.device_name);
}

// Of one rank, or of one process of unknown rank; else each its own.
auto owner(const Process& p) {
  const bool ranked = p.rank >= 0;
  return std::tuple(!ranked, ranked ? p.rank : p.pid, ranked ? std::string() : p.host);
}

bool all_are_phases(const std::vector<Process*>& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!are_phases(*files[i], *files[j])) return false;
    }
  }
  return files.size() > 1;
}

void label(const std::vector<Process*>& files) {
  std::vector<std::string> names;
  for (const Process* file : files) names.push_back(file->source);
  const std::vector<std::string> labels = phase_labels(names);
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i]->phase.empty()) files[i]->phase = labels[i];
  }
}

std::string notice(const std::vector<Process*>& files) {
  const Process& first = *files[0];
  std::string text = first.rank >= 0 ? fmt::format("rank {}", first.rank) : fmt::format("process {}", first.pid);
  text += fmt::format(": treating {} files as phases: ", files.size());
  for (const Process* file : files) {
    text += fmt::format("{}{} ({})", file == &first ? "" : ", ", file->source, file->phase);
  }
  return text;
}

}  // namespace

std::string phases_fault(const Process& a, const Process& b) {
  if (a.format != SourceFormat::kineto || b.format != SourceFormat::kineto) {
    return "only torch.profiler files can be phases";
  }
  if (a.rank != b.rank) return "they have different ranks";
  for (const auto rule : {fault_of_run, fault_of_process, fault_of_times, fault_of_names}) {
    if (std::string fault = rule(a, b); !fault.empty()) return fault;
  }
  return {};
}

std::int64_t begin_of(const Process& process) { return process.first_unclamped_ns != 0 ? process.first_unclamped_ns : process.first_ns; }

bool are_phases(const Process& a, const Process& b) { return phases_fault(a, b).empty(); }

std::vector<std::string> name_phases(Catalog& catalog) {
  std::map<std::tuple<bool, std::int64_t, std::string>, std::vector<Process*>> owners;
  for (Process& process : catalog.processes) {
    if (process.rank >= 0 || process.pid >= 0) owners[owner(process)].push_back(&process);
  }
  std::vector<std::string> said;
  std::size_t more = 0;
  for (auto& [owner, files] : owners) {
    if (!all_are_phases(files)) continue;
    label(files);
    if (said.size() < kPhasesSaid) said.push_back(notice(files));
    else ++more;
  }
  if (more > 0) said.push_back(fmt::format("{} more have several files treated as phases", more));
  return said;
}

}  // namespace cli
