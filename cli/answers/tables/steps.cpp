// steps: each training step of each rank, and the activity of its GPU in it.
#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/gpu_time.h"
#include "cli/answers/tables/whole_steps.h"
#include "cli/timeline/select/step_name.h"

namespace cli {
namespace {

std::vector<Column> training_step_columns(RowKeys keys) {
  return joined(
      joined({kStepColumn}, process_columns(keys)),
      {kDeviceColumn,
       {"start_ns", Unit::ns,
        "Start of the step on the GPU: end of the GPU work launched before it, since the start of the trace"},
       {"duration_ns", Unit::ns,
        "Time from start_ns to the end of the last GPU work launched in the step; host time if no GPU was used"},
       {"host_start_ns", Unit::ns,
        "Start of the step on the host, since the start of the trace; later launches belong to the step"},
       {"host_duration_ns", Unit::ns, "Duration of the step on the host"},
       {"busy_ns", Unit::ns, "Time within duration_ns with any GPU work"},
       {"exposed_comm_ns", Unit::ns, "Time within duration_ns with communication and no compute"},
       {"kernels", Unit::count, "Kernels launched in the step"},
       {"warm_up", Unit::yes_no, "Whether it is one of the first steps, which take far longer than others"},
       {"found_by", Unit::text, "Names of the ranges used as steps, or: period of kernels"}});
}

class StepTable : public Analysis {
 public:
  explicit StepTable(const AnalysisContext& context) : Analysis(context), times_(context) {
    for (const ProcessSteps& found : context.steps_found) warm_ups_.push_back(warm_up_steps(found.steps));
  }
  void work(const GpuWork& work) override { times_.add(work); }
  void finish(ResultTable& table) override {
    for (const DeviceTimes::Row& row : times_.rows()) {
      if (!row.window.step) continue;
      const bool is_known = row.device.has_value();
      std::vector<Cell>& cells = table.rows.emplace_back(std::vector<Cell>{*row.window.step});
      append_process(cells, context_.catalog.processes[row.process], context_.keys);
      const ProcessSteps& found = context_.steps_found[row.process];
      const auto at = static_cast<std::size_t>(
          std::ranges::lower_bound(found.steps, row.window.host_to_ns, {}, &Step::end_ns) - found.steps.begin());
      const Step step = at < found.steps.size() ? found.steps[at] : Step();
      append(cells, row.device, context_.since_start(row.process, row.window.from_ns), row.time.span_ns,
             context_.since_start(row.process, step.start_ns), step.end_ns - step.start_ns,
             is_known ? Cell(row.time.busy_ns) : Cell(), is_known ? Cell(row.time.exposed_comm_ns) : Cell(),
             is_known ? Cell(step.kernels) : Cell(), at < warm_ups_[row.process], found.found_by);
    }
    table.notes = step_notes(context_.steps_found, context_.catalog, context_.chosen, false);
  }

 private:
  DeviceTimes times_;
  std::vector<std::size_t> warm_ups_;  // by process
};

}  // namespace

AnalysisEntry steps_analysis() {
  return analysis_entry<StepTable, training_step_columns>(
      {.name = "steps",
       .meaning = "Training steps of each rank: duration and GPU busy time",
       .by = {GroupBy::step},
       .on_request = false,
       .needs = {.by_time = true}});
}

}  // namespace cli
