// temporal: the division of each GPU's time into busy, idle, compute, communication, memory and exposed communication.
#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/gpu_time.h"

namespace cli {
namespace {

std::vector<Column> temporal_columns(RowKeys keys) {
  return joined(
      device_columns(keys),
      {{"span_ns", Unit::ns, "Time from the first to the last GPU work, or the length of the step or of --time"},
       {"busy_ns", Unit::ns, "Time with any GPU work: kernels, copies, memsets or whole graphs"},
       {"idle_ns", Unit::ns, "Time without GPU work: span_ns - busy_ns"},
       {"compute_ns", Unit::ns, "Time with any kernel other than communication"},
       {"comm_ns", Unit::ns, "Time with any communication"},
       {"memory_ns", Unit::ns, "Time with any copy or memset"},
       {"exposed_comm_ns", Unit::ns, "Time with communication and no compute"},
       {"overlap_pct", Unit::percent, "Share of comm_ns with compute at the same time"}});
}

class Temporal : public Analysis {
 public:
  explicit Temporal(const AnalysisContext& context) : Analysis(context), times_(context) {}
  void work(const GpuWork& work) override { times_.add(work); }
  void finish(ResultTable& table) override {
    for (const DeviceTimes::Row& row : times_.rows()) {
      std::vector<Cell>& cells = table.rows.emplace_back(device_cells(row.process, row.device, row.window.step));
      const DeviceTime& t = row.time;
      for (const std::int64_t ns :
           {t.span_ns, t.busy_ns, t.idle_ns(), t.compute_ns, t.comm_ns, t.memory_ns, t.exposed_comm_ns}) {
        cells.push_back(row.device ? Cell(ns) : Cell());
      }
      cells.push_back(percent(t.overlap_ns(), t.comm_ns));
    }
    table.notes = times_.notes();
  }

 private:
  DeviceTimes times_;
};

}  // namespace

AnalysisEntry temporal_analysis() {
  return analysis_entry<Temporal, temporal_columns>(
      {.name = "temporal",
       .meaning = "GPU time: busy and idle, compute, communication, copies",
       .by = {GroupBy::none, GroupBy::rank, GroupBy::step},
       .on_request = false,
       .needs = {.by_time = true}});
}

}  // namespace cli
