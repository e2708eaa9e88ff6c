// kernels: the time of each kernel by name, and its launch configuration. Memory: 8 bytes per kernel, for exact
// percentiles.
#include <map>
#include <tuple>

#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/percentile.h"

namespace cli {
namespace {

std::vector<Column> kernel_columns(RowKeys keys) {
  return joined(
      rank_columns(keys),
      {{"name", Unit::text, "Kernel name, demangled"},
       {"class", Unit::text, "comm or compute"},
       {"count", Unit::count, "Number of instances"},
       {"sum_ns", Unit::ns, "Total duration, including kernels that ran at the same time"},
       {"share_pct", Unit::percent, "Share of the total duration of all kernels (of the rank with --by rank)"},
       {"mean_ns", Unit::ns, "Mean duration"},
       {"min_ns", Unit::ns, "Shortest duration"},
       {"median_ns", Unit::ns, "Median duration"},
       {"p95_ns", Unit::ns, "95th percentile of the duration"},
       {"max_ns", Unit::ns, "Longest duration"},
       {"stddev_ns", Unit::ns,
        "Sample standard deviation of the duration (n - 1, like Nsight Systems); unknown for one instance"},
       {"configurations", Unit::count,
        "Number of launch configurations (grid, block, registers, shared memory, cluster, type)"},
       {"grid", Unit::extent, "Blocks of the most frequent launch configuration, in x, y and z"},
       {"block", Unit::extent, "Threads per block of the most frequent launch configuration, in x, y and z"}});
}

// Launch configurations as the program requested them, without the values that are computed for a GPU.
class Configurations {
 public:
  using Id = Interned<Launch>::Id;

  explicit Configurations(const Interned<Launch>& launches) : launches_(launches) {}

  // 0 if unknown.
  Id of(LaunchId launch) {
    if (launch == 0) return 0;
    if (launch >= known_.size()) known_.resize(launches_.size());
    if (known_[launch] != 0) return known_[launch];
    Launch asked = launches_[launch];
    asked.estimated = false;
    asked.blocks_per_multiprocessor = asked.warps_per_multiprocessor = 0;
    asked.occupancy_percent = Launch().occupancy_percent;
    return known_[launch] = all_.intern(asked);
  }
  const Launch& operator[](Id id) const { return all_[id]; }

  // Returns the most frequent configuration; of several, the smallest, so that the result does not depend on their
  // order.
  Id most_frequent(const std::map<Id, std::uint64_t>& counts) const {
    const auto order = [](const Launch& l) {
      return std::tuple(std::to_array(l.grid), std::to_array(l.block), l.registers_per_thread, l.shared_bytes,
                        l.local_bytes_per_thread, std::to_array(l.cluster), l.launch_type);
    };
    return std::max_element(counts.begin(), counts.end(),
                            [&](const auto& a, const auto& b) {
                              return a.second != b.second ? a.second < b.second
                                                          : order(all_[b.first]) < order(all_[a.first]);
                            })
        ->first;
  }

 private:
  const Interned<Launch>& launches_;
  Interned<Launch> all_;
  std::vector<Id> known_;  // by LaunchId; 0 if not computed yet
};

class KernelTable : public Analysis {
 public:
  explicit KernelTable(const AnalysisContext& context) : Analysis(context), configurations_(context.catalog.launches) {}

  // Uses the full duration even if the kernel extends past the window.
  void work(const GpuWork& work) override {
    if (work.kind != Kind::kernel) return;
    const ProcessId group = group_of(work.process);
    Durations& durations = durations_of({group, work.name, work.work_class});
    durations.ns.push_back(work.end_ns - work.start_ns);
    durations.sum_ns += work.end_ns - work.start_ns;
    sums_[group] += work.end_ns - work.start_ns;
    if (const auto id = configurations_.of(work.launch); id != 0) ++durations.launches[id];
  }

  void finish(ResultTable& table) override {
    const auto order = [&](const auto& entry) {
      return std::tuple(entry.first.group, -entry.second.sum_ns, name_of(entry.first.name));
    };
    for (auto* entry : sorted_entries(kernels_, order)) table.rows.push_back(row(entry->first, entry->second));
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
    std::map<Configurations::Id, std::uint64_t> launches;
  };

  // Usually the entry used for the previous kernel of this name.
  Durations& durations_of(const Key& key) {
    if (key.name >= newest_.size())
      newest_.resize(std::max(context_.catalog.strings.size(), key.name + std::size_t{1}));
    auto*& newest = newest_[key.name];
    if (newest == nullptr || newest->first != key) newest = &*kernels_.try_emplace(key).first;
    return newest->second;
  }

  std::vector<Cell> row(const Key& key, Durations& durations) const {
    const Spread ns = spread_of(durations.ns);
    std::vector<Cell> cells = rank_cells(key.group);
    append(cells, name_of(key.name), key.work_class == WorkClass::comm ? "comm" : "compute", durations.ns.size(),
           durations.sum_ns, percent(durations.sum_ns, sums_.at(key.group)),
           static_cast<double>(durations.sum_ns) / static_cast<double>(durations.ns.size()), ns.least, ns.median,
           ns.p95, ns.most, standard_deviation(durations.ns));
    if (durations.launches.empty()) return cells;
    const Launch& most = configurations_[configurations_.most_frequent(durations.launches)];
    append(cells, durations.launches.size(), extent(most.grid), extent(most.block));
    return cells;
  }

  static Extent extent(const std::uint32_t (&size)[3]) { return {size[0], size[1], size[2]}; }

  Configurations configurations_;
  std::map<Key, Durations> kernels_;
  std::vector<std::pair<const Key, Durations>*> newest_;  // by name; entries in kernels_
  std::map<ProcessId, std::int64_t> sums_;
};

}  // namespace

AnalysisEntry kernels_analysis() {
  return analysis_entry<KernelTable, kernel_columns>(
      {.name = "kernels",
       .meaning = "Kernels by name: count, durations, share, launch configuration",
       .by = {GroupBy::none, GroupBy::rank},
       .on_request = false});
}

}  // namespace cli
