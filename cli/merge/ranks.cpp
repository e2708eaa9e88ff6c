#include "cli/merge/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "cli/error.h"
#include "cli/model/rank_list.h"

namespace cli {

void set_rank(Catalog& catalog, std::size_t first, const std::string& source, std::optional<std::int64_t> rank) {
  if (!rank) return;
  if (const std::size_t count = catalog.processes.size() - first; count != 1) {
    throw Error(Exit::usage,
                fmt::format("--rank {}={}: that file holds {} processes, so it has no one rank; give ranks "
                            "to the files that it was merged from",
                            *rank, source, count));
  }
  catalog.processes.back().rank = *rank;
  catalog.processes.back().rank_source = "--rank";
}

void check_ranks(const Catalog& catalog) {
  std::map<std::int64_t, const Process*> seen;
  for (const Process& process : catalog.processes) {
    if (process.rank < 0) continue;
    const auto [other, is_new] = seen.try_emplace(process.rank, &process);
    if (is_new) continue;
    throw Error(Exit::usage,
                fmt::format("rank {} comes twice: {} and {}; leave one out (are these two runs?), or give one another "
                            "rank with --rank N=FILE",
                            process.rank, other->second->source, process.source));
  }
}

std::string mixed_runs(const Catalog& catalog) {
  const Process* first = nullptr;
  for (const Process& process : catalog.processes) {
    if (process.run_id.empty()) continue;
    if (first == nullptr) first = &process;
    if (process.run_id == first->run_id) continue;
    return fmt::format("these are of different runs: {} is of run {}, {} of run {}; their ranks do not belong together",
                       first->source, first->run_id, process.source, process.run_id);
  }
  return {};
}

std::vector<std::string> repeated_ranks(const Catalog& catalog) {
  std::map<std::int64_t, std::vector<const Process*>> by_rank;
  for (const Process& process : catalog.processes) {
    if (process.rank >= 0) by_rank[process.rank].push_back(&process);
  }
  std::vector<std::int64_t> ranks;
  const auto may_be_one = [](const Process* a, const Process* b) {
    return a->run_id == b->run_id || a->run_id.empty() || b->run_id.empty();
  };
  for (const auto& [rank, all] : by_rank) {
    const Process* first = all[0];  // clang before 16 cannot capture a structured binding
    const bool twice = std::any_of(all.begin() + 1, all.end(), [&](auto* each) { return may_be_one(first, each); });
    if (twice) ranks.push_back(rank);
  }
  if (ranks.empty()) return {};
  const Process *a = by_rank[ranks[0]][0], *b = by_rank[ranks[0]][1];
  const std::string where = a->source == b->source ? fmt::format("{} itself and what was merged of it", a->source)
                                                   : fmt::format("{} and {}", a->source, b->source);
  return {fmt::format("{}: counted twice, because they come from several files, like {}; name only one of these",
                      rank_list(ranks), where)};
}

void sort_processes(Catalog& catalog) {
  std::vector<ProcessId> order(catalog.processes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](ProcessId a, ProcessId b) {
    const Process &x = catalog.processes[a], &y = catalog.processes[b];
    return std::tuple(x.rank < 0, x.rank, std::string_view(x.source)) <
           std::tuple(y.rank < 0, y.rank, std::string_view(y.source));
  });
  std::vector<Process> processes;
  std::vector<ProcessId> now(order.size());
  for (ProcessId old : order) {
    now[old] = static_cast<ProcessId>(processes.size());
    processes.push_back(std::move(catalog.processes[old]));
  }
  catalog.processes = std::move(processes);
  for (Track& track : catalog.tracks) track.process = now[track.process];
}

}  // namespace cli
