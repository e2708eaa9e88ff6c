#include "cli/timeline/merge/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "cli/base/shell_word.h"
#include "cli/base/units.h"
#include "cli/timeline/merge/phases.h"
#include "cli/trace/error.h"
#include "cli/trace/rank_list.h"

namespace cli {
namespace {

[[noreturn]] void fail_twice(const Process& first, const Process& second) {
  if (first.source == second.source) {  // that file and a merged one which holds it, or two of these
    throw Error(Exit::usage, fmt::format("duplicate rank {}: two inputs contain {}; omit one (one may already be merged)", second.rank,
                                         first.source));
  }
  throw Error(Exit::usage,
              fmt::format("duplicate rank {0}: {1} and {2} are not phases of one run, because {3}; omit one "
                          "(`tracetool diff {4} {5}` compares two runs), or change the rank of one with --rank N=FILE",
                          second.rank, first.source, second.source, phases_fault(first, second), shell_word(first.source), shell_word(second.source)));
}

// The first two for which `holds` is true; nullptr when there are none.
template <typename Holds>
std::pair<const Process*, const Process*> find_pair(const std::vector<const Process*>& all, Holds holds) {
  for (std::size_t i = 1; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (holds(all[j], all[i])) return {all[j], all[i]};
    }
  }
  return {};
}

}  // namespace

void set_rank(Catalog& catalog, std::size_t first, const std::string& source, std::optional<std::int64_t> rank) {
  if (!rank) return;
  if (const std::size_t count = catalog.processes.size() - first; count != 1) {
    throw Error(Exit::usage,
                fmt::format("--rank {}={}: that file contains {} processes, so it has no single rank; set the ranks "
                            "of the files that it was merged from",
                            *rank, source, count));
  }
  catalog.processes.back().rank = *rank;
  catalog.processes.back().rank_source = RankSource::option;
}

void check_ranks(const Catalog& catalog) {
  std::map<std::int64_t, std::vector<const Process*>> seen;
  for (const Process& process : catalog.processes) {
    if (process.rank < 0) continue;
    std::vector<const Process*>& others = seen[process.rank];
    for (const Process* other : others) {
      if (!are_phases(*other, process)) fail_twice(*other, process);
    }
    others.push_back(&process);
  }
}

void check_given_ranks(const Catalog& catalog) {
  Catalog given;
  for (const Process& process : catalog.processes) {
    if (process.rank_source == RankSource::option) given.processes.push_back(process);
  }
  check_ranks(given);
}

std::string contradiction(const Catalog& catalog) {
  const Process *with_id = nullptr, *with_size = nullptr;
  for (const Process& p : catalog.processes) {
    if (with_id == nullptr && !p.run_id.empty()) with_id = &p;
    if (with_size == nullptr && p.world_size >= 0) with_size = &p;
    if (!p.run_id.empty() && p.run_id != with_id->run_id) {
      return fmt::format("different runs: {} is from run {}, {} from run {}; choose one with --run NAME, or give "
                         "its files",
                         with_id->source, with_id->run_id, p.source, p.run_id);
    }
    if (p.world_size >= 0 && p.world_size != with_size->world_size) {
      return fmt::format("different runs: {} is from a run of {}, {} from a run of {}; give the files of one run",
                         with_size->source, count_text(with_size->world_size, "rank"), p.source,
                         count_text(p.world_size, "rank"));
    }
  }
  return {};
}

std::string apart_in_time(const Catalog& catalog) {
  struct Span {
    std::int64_t first_ns, last_ns;
    const Process* process;
  };
  std::map<std::int64_t, Span> of_ranks;
  std::vector<Span> spans;
  for (const Process& p : catalog.processes) {
    if (p.first_ns == 0 && p.last_ns == 0) continue;
    const Span span{begin_of(p), p.last_ns, &p};
    if (p.rank < 0) {
      spans.push_back(span);
      continue;
    }
    Span& all = of_ranks.try_emplace(p.rank, span).first->second;
    all.first_ns = std::min(all.first_ns, span.first_ns);
    all.last_ns = std::max(all.last_ns, span.last_ns);
  }
  for (const auto& [rank, span] : of_ranks) spans.push_back(span);
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.first_ns < b.first_ns; });
  const Span *last = nullptr, *before = nullptr, *after = nullptr;
  std::int64_t gap_ns = 0;
  for (const Span& span : spans) {
    if (last != nullptr && span.first_ns - last->last_ns > gap_ns) {
      gap_ns = span.first_ns - last->last_ns;
      before = last;
      after = &span;
    }
    if (last == nullptr || span.last_ns > last->last_ns) last = &span;
  }
  if (gap_ns == 0) return {};
  return fmt::format("not all files overlap in time: {} ends {} before {} begins; if they are from one run, a clock "
                     "is wrong",
                     before->process->source, duration_text(gap_ns), after->process->source);
}

std::vector<std::string> repeated_ranks(const Catalog& catalog) {
  std::map<std::int64_t, std::vector<const Process*>> by_rank;
  for (const Process& process : catalog.processes) {
    if (process.rank >= 0) by_rank[process.rank].push_back(&process);
  }
  std::vector<std::int64_t> ranks;
  const Process *a = nullptr, *b = nullptr;
  const auto may_be_one = [](const Process* a, const Process* b) {
    if (are_phases(*a, *b)) return false;
    return a->run_id == b->run_id || a->run_id.empty() || b->run_id.empty();
  };
  for (const auto& [rank, all] : by_rank) {
    const auto [first, second] = find_pair(all, may_be_one);
    if (first == nullptr) continue;
    if (ranks.empty()) {
      a = first;
      b = second;
    }
    ranks.push_back(rank);
  }
  if (ranks.empty()) return {};
  const std::string where = a->source == b->source ? fmt::format("{} and a file that was merged from it", a->source)
                                                   : fmt::format("{} and {}", a->source, b->source);
  return {fmt::format("{}: counted twice, because they come from several files, like {}; give only one of these",
                      rank_list(ranks), where)};
}

std::vector<ProcessId> sort_processes(Catalog& catalog) {
  std::vector<ProcessId> order(catalog.processes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](ProcessId a, ProcessId b) {
    const Process &x = catalog.processes[a], &y = catalog.processes[b];
    const auto place = [](const Process& p) {
      return std::tuple(p.rank < 0, p.rank, p.phase.empty() ? 0 : p.first_ns, std::string_view(p.source));
    };
    return place(x) < place(y);
  });
  std::vector<Process> processes;
  std::vector<ProcessId> now(order.size());
  for (ProcessId old : order) {
    now[old] = static_cast<ProcessId>(processes.size());
    processes.push_back(std::move(catalog.processes[old]));
  }
  catalog.processes = std::move(processes);
  for (Track& track : catalog.tracks) track.process = now[track.process];
  return now;
}

}  // namespace cli
