// syncs: waits of the host for its GPU, and the idle time of the GPU that they cause (device_gaps.h).
#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/device_gaps.h"
#include "cli/answers/tables/percentile.h"

namespace cli {
namespace {

std::vector<Column> sync_columns(RowKeys keys) {
  return joined(
      process_columns(keys),
      {{"name", Unit::text, "Call in which the host waits: a synchronization or a blocking copy"},
       {"count", Unit::count, "Number of waits"},
       {"host_ns", Unit::ns, "Total time in these calls on all threads"},
       {"median_ns", Unit::ns, "Median duration"},
       {"max_ns", Unit::ns, "Longest duration"},
       {"stalls", Unit::count,
        "Number of idle gaps that began during such a call and ended with work launched after it"},
       {"stalled_ns", Unit::ns, "Idle time in the gaps counted in stalls, each at most as long as its call"}});
}

class SyncTable : public Analysis {
 public:
  explicit SyncTable(const AnalysisContext& context) : Analysis(context), host_(context.windows.host()) {}

  // Uses the full duration even if the wait extends past the window.
  void wait(ProcessId process, const HostWait& wait) override {
    if (!host_.hold(process, wait.start_ns, wait.end_ns)) return;
    Waits& waits = waits_[{process, wait.name}];
    waits.ns.push_back(wait.end_ns - wait.start_ns);
    waits.host_ns += wait.end_ns - wait.start_ns;
  }

  void gap(const DeviceGap& gap) override {
    if (!gap.wait) return;
    const std::int64_t stalled_ns = context_.windows.inside_ns(gap.process, gap.from_ns, gap.waited_to_ns());
    if (stalled_ns == 0) return;
    Waits& waits = waits_[{gap.process, gap.wait->name}];
    ++waits.stalls;
    waits.stalled_ns += stalled_ns;
  }

  void finish(ResultTable& table) override {
    const auto order = [&](const auto& entry) {
      return std::tuple(entry.first.first, -entry.second.host_ns, name_of(entry.first.second));
    };
    for (auto* entry : sorted_entries(waits_, order)) {
      auto& [key, waits] = *entry;
      std::vector<Cell>& cells = table.rows.emplace_back(process_cells(key.first));
      append(cells, name_of(key.second), waits.ns.size(), waits.host_ns);
      if (waits.ns.empty()) {
        append(cells, Cell(), Cell());
      } else {
        const Spread ns = spread_of(waits.ns);
        append(cells, ns.median, ns.most);
      }
      append(cells, waits.stalls, waits.stalled_ns);
    }
  }

 private:
  using Key = std::pair<ProcessId, StringId>;
  struct Waits {
    std::vector<std::int64_t> ns;
    std::int64_t host_ns = 0, stalls = 0, stalled_ns = 0;
  };

  const Windows host_;
  std::map<Key, Waits> waits_;
};

}  // namespace

AnalysisEntry syncs_analysis() {
  return analysis_entry<SyncTable, sync_columns>(
      {.name = "syncs",
       .meaning = "Calls in which the host waits for its GPU: count, duration, and the idle time that they cause",
       .by = {GroupBy::rank},
       .needs = {.gaps = true}});
}

}  // namespace cli
