// idle: the idle time of each device by cause (device_gaps.h). Its idle time equals that of `temporal`, and the causes
// add up to it. The part in which the host was in Python's garbage collector has its own column.
#include <tuple>

#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/device_gaps.h"
#include "cli/answers/tables/gpu_time.h"

namespace cli {
namespace {

std::vector<Column> idle_columns(RowKeys keys) {
  return joined(
      device_columns(keys),
      {{"idle_ns", Unit::ns, "Time without GPU work, as in temporal; sum of the next seven columns"},
       {"sync_ns", Unit::ns, "Idle time while the host was in a synchronization that began before the GPU went idle"},
       {"copy_ns", Unit::ns,
        "Idle time while the host was in a blocking or pageable copy, before the gap or as the next work"},
       {"after_sync_ns", Unit::ns,
        "Idle time from the end of such a wait to the next launch; at most the length of the wait"},
       {"host_late_ns", Unit::ns,
        "Idle time until the host began the next launch, after 30 us or more without a launch"},
       {"launch_ns", Unit::ns,
        "Idle time in the call that launched the next work, or between launches at most 30 us apart"},
       {"queued_ns", Unit::ns, "Idle time from the launch to the start of the next work, if at most 30 us"},
       {"unexplained_ns", Unit::ns,
        "Idle time of longer waits after a launch, of unknown launches, or without later work"},
       {"in_gc_ns", Unit::ns,
        "Part of after_sync_ns and host_late_ns in Python's garbage collector on any thread; unknown without such events"}});
}

class IdleTable : public Analysis {
 public:
  explicit IdleTable(const AnalysisContext& context) : Analysis(context), times_(context) {}

  void work(const GpuWork& work) override { times_.add(work); }
  void gap(const DeviceGap& gap) override {
    const bool is_edge = gap.from_ns == kEarliest_ns || gap.next == nullptr;
    if (is_edge && !context_.windows.are_bounded()) return;
    const auto& windows = context_.windows.of(gap.process);
    for (std::size_t i = context_.windows.first_after(gap.process, gap.from_ns);
         i < windows.size() && windows[i].from_ns < gap.to_ns; ++i) {
      const AnalysisWindow& row = windows[i].step ? windows[i] : windows.front();
      Sums& sums = sums_[{gap.process, gap.device, row.from_ns}];
      const IdleTimes times = gap.times(windows[i].from_ns, windows[i].to_ns);
      for (std::size_t cause = 0; cause < kIdleCauses; ++cause) sums.causes[cause] += times[cause];
      sums.collecting_ns += gap.collecting_ns(windows[i].from_ns, windows[i].to_ns);
    }
  }

  void finish(ResultTable& table) override {
    for (const DeviceTimes::Row& row : times_.rows()) {
      std::vector<Cell>& cells = table.rows.emplace_back(device_cells(row.process, row.device, row.window.step));
      if (!row.device) continue;
      cells.emplace_back(row.time.idle_ns());
      const Sums& sums = sums_[{row.process, *row.device, row.window.from_ns}];
      for (const std::int64_t ns : sums.causes) cells.emplace_back(ns);
      const bool knows_collections =
          context_.catalog.processes[row.process].counts[static_cast<std::size_t>(Kind::garbage_collection)] > 0;
      cells.push_back(knows_collections ? Cell(sums.collecting_ns) : Cell());
    }
    table.notes = times_.notes();
  }

 private:
  struct Sums {
    IdleTimes causes{};
    std::int64_t collecting_ns = 0;
  };

  DeviceTimes times_;
  // By device and begin of the row's first window
  std::map<std::tuple<ProcessId, std::int64_t, std::int64_t>, Sums> sums_;
};

}  // namespace

AnalysisEntry idle_analysis() {
  return analysis_entry<IdleTable, idle_columns>(
      {.name = "idle",
       .meaning = "Idle time of each GPU by cause: synchronizations, a late host, launches",
       .by = {GroupBy::none, GroupBy::rank, GroupBy::step},
       .needs = {.by_time = true, .gaps = true}});
}

}  // namespace cli
