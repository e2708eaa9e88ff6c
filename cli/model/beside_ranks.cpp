#include "cli/model/beside_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/model/kinds.h"

namespace cli {
namespace {

bool used_gpu(const Process& process) {
  const auto any = [](const KindCounts& counts) {
    return std::any_of(kKinds.begin(), kKinds.end(), [&](const KindInfo& each) { return is_gpu_work(each.kind) && counts[static_cast<std::size_t>(each.kind)] != 0; });
  };
  return any(process.counts) || any(process.overwritten) || any(process.lost) || !process.devices.empty();
}

bool is_recorded(const Process& process) { return process.format == SourceFormat::ring && !process.run_id.empty(); }

}  // namespace

std::vector<bool> beside_ranks(const Catalog& catalog) {
  std::set<std::string_view> runs;  // with ranks
  for (const Process& process : catalog.processes) {
    if (is_recorded(process) && process.rank >= 0 && process.rank_source == RankSource::content) runs.insert(process.run_id);
  }
  std::vector<bool> found;
  for (const Process& process : catalog.processes) {
    found.push_back(is_recorded(process) && process.rank < 0 && runs.contains(process.run_id) && !used_gpu(process));
  }
  return found;
}

std::string process_words(const Process& process) {
  const std::string program = process.program.empty() ? "" : fmt::format(" ({})", process.program);
  return process.pid < 0 ? process.source + program : fmt::format("pid {}{}", process.pid, program);
}

}  // namespace cli
