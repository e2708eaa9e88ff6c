#include "cli/trace/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/trace/event.h"

namespace cli {

namespace {

// Returns the text of the run of consecutive ranks that begins at `from`, and advances `from` past it.
std::string take_run(const std::vector<std::int64_t>& ranks, std::size_t& from) {
  const std::size_t first = from++;
  while (from < ranks.size() && ranks[from] == ranks[from - 1] + 1) ++from;
  const std::string text = std::to_string(ranks[first]);
  return from - first == 1 ? text : text + '-' + std::to_string(ranks[from - 1]);
}

}  // namespace

std::string number_list(std::vector<std::int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::string text;
  for (std::size_t at = 0; at < numbers.size();) {
    if (at != 0) text += ", ";
    text += take_run(numbers, at);
  }
  return text;
}

std::string rank_list(std::vector<std::int64_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  const bool unknown = !ranks.empty() && ranks[0] < 0;
  ranks.erase(ranks.begin(), std::lower_bound(ranks.begin(), ranks.end(), 0));
  std::string text = ranks.empty() ? "" : ranks.size() == 1 ? "rank " : "ranks ";
  text += number_list(ranks);
  if (unknown) text += text.empty() ? "unknown ranks" : ", unknown ranks";
  return text;
}

std::string of_rank(std::int64_t rank) { return rank < 0 ? "" : " of rank " + std::to_string(rank); }

namespace {

// Reports of Nsight Systems contain every process that was profiled, like profiles.
bool is_profile(const Process& process) { return process.format != SourceFormat::ring; }

// A profile lists all devices of the machine, including unused ones.
bool used_gpu(const Process& process) {
  const auto any = [](const KindCounts& counts) {
    return std::any_of(kKinds.begin(), kKinds.end(), [&](const KindInfo& each) {
      return is_gpu_work(each.kind) && counts[static_cast<std::size_t>(each.kind)] != 0;
    });
  };
  return any(process.counts) || any(process.overwritten) || any(process.lost) ||
         (!is_profile(process) && !process.devices.empty());
}

bool is_recorded(const Process& process) { return process.format == SourceFormat::ring && !process.run_id.empty(); }

}  // namespace

std::vector<bool> beside_ranks(const Catalog& catalog) {
  std::set<std::string_view> runs;  // runs that have ranks
  for (const Process& process : catalog.processes) {
    if (is_recorded(process) && process.rank >= 0 && process.rank_source == RankSource::content)
      runs.insert(process.run_id);
  }
  const bool has_ranks = std::any_of(catalog.processes.begin(), catalog.processes.end(), [](const Process& each) {
    return is_profile(each) && each.rank >= 0 && used_gpu(each);
  });
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
