// temporal: how the time of each GPU divides (design: busy, idle, compute, communication, memory, exposed).
#include "cli/analyze/cells.h"
#include "cli/analyze/device_times.h"

namespace cli {
namespace {

std::vector<Column> temporal_columns(GroupBy by) {
  std::vector<Column> columns{
      kRankColumn,
      kDeviceColumn,
      {"span_ns", Unit::ns, "From the start of the first GPU work to the end of the last; of a step or a --time, its length"},
      {"busy_ns", Unit::ns, "When any work ran: kernels, copies, sets, whole graphs"},
      {"idle_ns", Unit::ns, "span - busy"},
      {"compute_ns", Unit::ns, "When any kernel ran that is no communication"},
      {"comm_ns", Unit::ns, "When any communication ran"},
      {"memory_ns", Unit::ns, "When any copy or set ran"},
      {"exposed_comm_ns", Unit::ns, "When communication ran, and no compute"},
      {"overlap_pct", Unit::percent, "Of comm: when compute ran too"}};
  if (by == GroupBy::step) columns.emplace(columns.begin() + 2, kStepColumn);
  return columns;
}

class Temporal : public Analysis {
 public:
  explicit Temporal(const AnalysisContext& context) : context_(context), times_(context) {}
  void work(const GpuWork& work) override { times_.add(work); }
  ResultTable finish() override {
    ResultTable table{"temporal", temporal_columns(context_.by), {}, {}};
    for (const DeviceTimes::Row& row : times_.rows()) {
      std::vector<Cell>& cells = table.rows.emplace_back();
      append(cells, rank_cell(context_.catalog.processes[row.process]), known(row.device));
      if (context_.by == GroupBy::step) cells.push_back(known(row.window.step));
      const DeviceTime& t = row.time;
      const bool is_known = row.device.has_value();
      for (const std::int64_t ns : {t.span_ns, t.busy_ns, t.idle_ns(), t.compute_ns, t.comm_ns, t.memory_ns, t.exposed_comm_ns}) {
        is_known ? cells.emplace_back(ns) : cells.emplace_back();
      }
      cells.push_back(percent(t.overlap_ns(), t.comm_ns));
    }
    return table;
  }

 private:
  const AnalysisContext& context_;
  DeviceTimes times_;
};

}  // namespace

AnalysisRow temporal_analysis() {
  return {"temporal",
          "How the time of each GPU divides: busy and idle, compute, communication, copies",
          {GroupBy::none, GroupBy::rank, GroupBy::step},
          temporal_columns,
          [](const AnalysisContext& context) -> std::unique_ptr<Analysis> { return std::make_unique<Temporal>(context); }};
}

}  // namespace cli
