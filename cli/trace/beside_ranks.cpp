#include "cli/trace/beside_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/trace/kinds.h"

namespace cli {
namespace {

bool is_profile(const Process& process) { return process.format == SourceFormat::kineto; }

// A profile lists all devices of the machine, including unused ones.
bool used_gpu(const Process& process) {
  const auto any = [](const KindCounts& counts) {
    return std::any_of(kKinds.begin(), kKinds.end(), [&](const KindInfo& each) { return is_gpu_work(each.kind) && counts[static_cast<std::size_t>(each.kind)] != 0; });
  };
  return any(process.counts) || any(process.overwritten) || any(process.lost) || (!is_profile(process) && !process.devices.empty());
}

bool is_recorded(const Process& process) { return process.format == SourceFormat::ring && !process.run_id.empty(); }

}  // namespace

std::vector<bool> beside_ranks(const Catalog& catalog) {
  std::set<std::string_view> runs;  // with ranks
  for (const Process& process : catalog.processes) {
    if (is_recorded(process) && process.rank >= 0 && process.rank_source == RankSource::content) runs.insert(process.run_id);
  }
  const bool has_ranks = std::any_of(catalog.processes.begin(), catalog.processes.end(), [](const Process& each) { return is_profile(each) && each.rank >= 0 && used_gpu(each); });
  std::vector<bool> found;
  for (const Process& process : catalog.processes) {
    const bool of_their_run = is_profile(process) ? has_ranks : is_recorded(process) && runs.contains(process.run_id);
    found.push_back(process.rank < 0 && of_their_run && !used_gpu(process));
  }
  return found;
}

std::string process_words(const Process& process) {
  const std::string program = process.program.empty() ? "" : fmt::format(" ({})", process.program);
  return process.pid < 0 ? process.source + program : fmt::format("pid {}{}", process.pid, program);
}

}  // namespace cli
