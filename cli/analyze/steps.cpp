// steps: each training step of each rank, and what its GPU did in it.
#include "cli/analyze/cells.h"
#include "cli/analyze/device_times.h"

namespace cli {
namespace {

std::vector<Column> step_columns(RowKeys keys) {
  std::vector<Column> columns = process_columns(keys);
  columns.insert(columns.begin(), kStepColumn);
  return joined(std::move(columns), {
      kDeviceColumn,
      {"start_ns", Unit::ns, "When the step's range began on the host, since the trace's start"},
      {"duration_ns", Unit::ns, "Of that range"},
      {"busy_ns", Unit::ns, "When any GPU work ran in that time"},
      {"exposed_comm_ns", Unit::ns, "When communication ran in that time, and no compute"},
      {"found_by", Unit::text, "The names of the ranges that were taken for steps"}});
}

class StepTable : public Analysis {
 public:
  explicit StepTable(const AnalysisContext& context) : context_(context), times_(context) {}
  void work(const GpuWork& work) override { times_.add(work); }
  ResultTable finish() override {
    ResultTable table{"steps", step_columns(context_.keys), {}, {}};
    for (const DeviceTimes::Row& row : times_.rows()) {
      if (!row.window.step) continue;
      const bool is_known = row.device.has_value();
      std::vector<Cell>& cells = table.rows.emplace_back();
      cells.push_back(known(row.window.step));
      append_process(cells, context_.catalog.processes[row.process], context_.keys);
      append(cells, known(row.device), context_.clocks.on_axis(row.process, row.window.from_ns) - context_.origin_ns, row.time.span_ns, is_known ? Cell(row.time.busy_ns) : Cell(),
             is_known ? Cell(row.time.exposed_comm_ns) : Cell(), context_.steps_found[row.process].found_by);
    }
    if (table.rows.empty()) {
      table.notes.push_back("no training steps were found: no range is named ProfilerStep#N, step N, iteration N or the like");
    }
    return table;
  }

 private:
  const AnalysisContext& context_;
  DeviceTimes times_;
};

}  // namespace

AnalysisEntry steps_analysis() {
  return {"steps",
          "Each training step of each rank: how long it took, how long its GPU worked",
          {GroupBy::step},
          step_columns,
          [](const AnalysisContext& context) -> std::unique_ptr<Analysis> { return std::make_unique<StepTable>(context); }};
}

}  // namespace cli
