// kernels: what each kernel costs, by its name. Memory: 8 bytes a kernel, for exact percentiles.
#include <algorithm>
#include <map>

#include "cli/analyze/cells.h"

namespace cli {
namespace {

std::vector<Column> kernel_columns(GroupBy by) {
  std::vector<Column> columns{{"name", Unit::text, "Of the kernel, demangled"},
                              {"class", Unit::text, "comm or compute"},
                              {"count", Unit::count, "How often it ran"},
                              {"sum_ns", Unit::ns, "All its durations together, also where kernels ran at once"},
                              {"share_pct", Unit::percent, "Of all kernels' sum; by rank, of the rank's"},
                              {"min_ns", Unit::ns, "The shortest"},
                              {"median_ns", Unit::ns, "At least half of them took at most so long"},
                              {"p95_ns", Unit::ns, "At least 95 % of them took at most so long"},
                              {"max_ns", Unit::ns, "The longest"}};
  if (by == GroupBy::rank) columns.emplace(columns.begin(), kRankColumn);
  return columns;
}

// The smallest value that at least `percent` of all do not exceed: one of them, never between two.
std::int64_t percentile(const std::vector<std::int64_t>& sorted, std::size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

class KernelTable : public Analysis {
 public:
  explicit KernelTable(const AnalysisContext& context) : context_(context) {}

  // Whole, also where it reaches out of the window: a kernel is not longer or shorter for that.
  void work(const GpuWork& work) override {
    if (work.kind != Kind::kernel) return;
    const ProcessId group = context_.by == GroupBy::rank ? work.process : 0;
    Durations& durations = kernels_[{group, work.name, work.work_class}];
    durations.ns.push_back(work.end_ns - work.start_ns);
    durations.sum_ns += work.end_ns - work.start_ns;
    sums_[group] += work.end_ns - work.start_ns;
  }

  ResultTable finish() override {
    ResultTable table{"kernels", kernel_columns(context_.by), {}, {}};
    std::vector<std::pair<const Key*, Durations*>> sorted;
    for (auto& [key, durations] : kernels_) sorted.push_back({&key, &durations});
    std::sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
      if (a.first->group != b.first->group) return a.first->group < b.first->group;
      if (a.second->sum_ns != b.second->sum_ns) return a.second->sum_ns > b.second->sum_ns;
      return context_.catalog.strings[a.first->name] < context_.catalog.strings[b.first->name];
    });
    for (const auto& [key, durations] : sorted) table.rows.push_back(row(*key, *durations));
    return table;
  }

 private:
  struct Key {
    ProcessId group;
    StringId name;
    WorkClass work_class;
    auto operator<=>(const Key&) const = default;
  };
  struct Durations {
    std::vector<std::int64_t> ns;
    std::int64_t sum_ns = 0;
  };

  std::vector<Cell> row(const Key& key, Durations& durations) const {
    std::vector<std::int64_t>& ns = durations.ns;
    std::sort(ns.begin(), ns.end());
    std::vector<Cell> cells;
    if (context_.by == GroupBy::rank) cells.push_back(rank_cell(context_.catalog.processes[key.group]));
    append(cells, std::string(context_.catalog.strings[key.name]),
           std::string(key.work_class == WorkClass::comm ? "comm" : "compute"), static_cast<std::int64_t>(ns.size()),
           durations.sum_ns, percent(durations.sum_ns, sums_.at(key.group)), ns.front(), percentile(ns, 50),
           percentile(ns, 95), ns.back());
    return cells;
  }

  const AnalysisContext& context_;
  std::map<Key, Durations> kernels_;
  std::map<ProcessId, std::int64_t> sums_;
};

}  // namespace

AnalysisRow kernels_analysis() {
  return {"kernels",
          "Each kernel by name: how often, how long, its share",
          {GroupBy::none, GroupBy::rank},
          kernel_columns,
          [](const AnalysisContext& context) -> std::unique_ptr<Analysis> { return std::make_unique<KernelTable>(context); }};
}

}  // namespace cli
