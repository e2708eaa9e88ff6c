// temporal: the division of each GPU's time into busy, idle, compute, communication, memory and exposed communication.
#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/gpu_time.h"

namespace cli {
namespace {

std::vector<Column> temporal_columns(RowKeys keys) {
  std::vector<Column> columns = process_columns(keys);
  columns.push_back(kDeviceColumn);
  if (keys.by == GroupBy::step) columns.push_back(kStepColumn);
  return joined(
      std::move(columns),
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
  explicit Temporal(const AnalysisContext& context) : context_(context), times_(context) {}
  void work(const GpuWork& work) override { times_.add(work); }
  ResultTable finish() override {
    ResultTable table{"temporal", temporal_columns(context_.keys), {}, {}};
    for (const DeviceTimes::Row& row : times_.rows()) {
      std::vector<Cell>& cells = table.rows.emplace_back();
      append_process(cells, context_.catalog.processes[row.process], context_.keys);
      cells.push_back(known(row.device));
      if (context_.keys.by == GroupBy::step) cells.push_back(known(row.window.step));
      const DeviceTime& t = row.time;
      const bool is_known = row.device.has_value();
      for (const std::int64_t ns :
           {t.span_ns, t.busy_ns, t.idle_ns(), t.compute_ns, t.comm_ns, t.memory_ns, t.exposed_comm_ns}) {
        is_known ? cells.emplace_back(ns) : cells.emplace_back();
      }
      cells.push_back(percent(t.overlap_ns(), t.comm_ns));
    }
    table.notes = times_.notes();
    return table;
  }

 private:
  const AnalysisContext& context_;
  DeviceTimes times_;
};

}  // namespace

AnalysisEntry temporal_analysis() {
  return {.name = "temporal",
          .meaning = "GPU time: busy and idle, compute, communication, copies",
          .by = {GroupBy::none, GroupBy::rank, GroupBy::step},
          .columns = temporal_columns,
          .make = make_analysis<Temporal>,
          .needs = {.by_time = true}};
}

}  // namespace cli
