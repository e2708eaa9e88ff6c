// api: time of the host's CUDA runtime and driver calls, by name. Memory: 8 bytes per call, for exact percentiles.
#include <map>

#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/percentile.h"
#include "cli/trace/event_times.h"

namespace cli {
namespace {

std::vector<Column> api_columns(RowKeys keys) {
  return joined(
      rank_columns(keys),
      {{"name", Unit::text, "Function name, of the CUDA runtime (cuda...) or driver (cu...)"},
       {"count", Unit::count, "Number of calls"},
       {"sum_ns", Unit::ns, "Total time on all threads; driver calls are within the runtime calls that make them"},
       {"share_pct", Unit::percent, "Share of the total time of all calls (of the rank with --by rank)"},
       {"min_ns", Unit::ns, "Shortest call"},
       {"median_ns", Unit::ns, "Median duration of a call"},
       {"p95_ns", Unit::ns, "95th percentile of the duration"},
       {"max_ns", Unit::ns, "Longest call"}});
}

class ApiTable : public Analysis {
 public:
  explicit ApiTable(const AnalysisContext& context) : Analysis(context), host_(context.windows.host()) {}

  // Uses the full duration even if the call extends past the window.
  void event(const Event& event, const Facts&) override {
    if (!is_slice(event)) return;
    const ProcessId process = context_.catalog.tracks[event.track].process;
    const std::int64_t end_ns = event.duration_ns < 0 ? kLatest_ns : slice_end(event, kLatest_ns);
    if (!host_.hold(process, event.start_ns, end_ns)) return;
    if (event.duration_ns < 0) {
      ++endless_;
      return;
    }
    const ProcessId group = group_of(process);
    Durations& durations = calls_[{group, event.name}];
    durations.ns.push_back(event.duration_ns);
    durations.sum_ns += event.duration_ns;
    sums_[group] += event.duration_ns;
  }

  void finish(ResultTable& table) override {
    const auto order = [&](const auto& entry) {
      return std::tuple(entry.first.first, -entry.second.sum_ns, name_of(entry.first.second));
    };
    for (auto* entry : sorted_entries(calls_, order)) {
      auto& [key, durations] = *entry;
      const Spread ns = spread_of(durations.ns);
      append(table.rows.emplace_back(rank_cells(key.first)), name_of(key.second), durations.ns.size(), durations.sum_ns,
             percent(durations.sum_ns, sums_.at(key.first)), ns.least, ns.median, ns.p95, ns.most);
    }
    if (endless_ > 0)
      table.notes.push_back(std::to_string(endless_) +
                            " calls had not returned when the trace ended, and are excluded");
  }

 private:
  using Key = std::pair<ProcessId, StringId>;
  struct Durations {
    std::vector<std::int64_t> ns;
    std::int64_t sum_ns = 0;
  };

  const Windows host_;
  std::map<Key, Durations> calls_;
  std::map<ProcessId, std::int64_t> sums_;
  std::uint64_t endless_ = 0;
};

}  // namespace

AnalysisEntry api_analysis() {
  return analysis_entry<ApiTable, api_columns>(
      {.name = "api",
       .meaning = "CUDA runtime and driver functions: number of calls and their duration",
       .by = {GroupBy::none, GroupBy::rank},
       .needs = {.kinds = kinds_of({Kind::runtime, Kind::driver})}});
}

}  // namespace cli
