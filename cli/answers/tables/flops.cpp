// flops, roofline, mfu: the computation of operators with known inputs, its rate, and the share of its limit. Kernels
// are those that the operator launched (operator_flops.h). Memory: 32 bytes per recent operator of a process, plus the
// rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>

#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/gpu_peaks.h"
#include "cli/answers/tables/named_classes.h"
#include "cli/answers/tables/operator_flops.h"

namespace cli {
namespace {

const std::vector<Column> kOperatorColumns{
    {"name", Unit::text, "Operator name"},
    {"shape", Unit::text, "Input sizes that determine the number of operations"},
    {"type", Unit::text, "Number type of the products: bf16, tf32, ...; empty for float32 that may run as TF32"},
    {"count", Unit::count, "Number of calls that ran a kernel"},
    {"time_ns", Unit::ns, "Total duration of the kernels of these calls"},
    {"flop", Unit::count, "Floating-point operations per call"},
    {"tflop_per_s", Unit::number, "Achieved rate in 10^12 operations per second"}};

std::vector<Column> flops_columns(RowKeys keys) {
  std::vector<Column> columns = keys.by == GroupBy::rank ? process_columns(keys) : std::vector<Column>();
  return joined(joined(std::move(columns), kOperatorColumns),
                {{"peak_tflop_per_s", Unit::number, "Peak rate of the GPU for this type, dense"},
                 {"of_peak_pct", Unit::percent, "Achieved rate relative to the peak"}});
}

std::vector<Column> roofline_columns(RowKeys keys) {
  std::vector<Column> columns = keys.by == GroupBy::rank ? process_columns(keys) : std::vector<Column>();
  return joined(joined(std::move(columns), kOperatorColumns),
                {{"bytes", Unit::bytes, "Minimum bytes that one call moves: each input and output once"},
                 {"flop_per_byte", Unit::number, "Arithmetic intensity: flop / bytes"},
                 {"ridge_flop_per_byte", Unit::number,
                  "Intensity above which the GPU's compute rate is the bound: peak / bandwidth"},
                 {"bound", Unit::text, "Limit that applies to the operator: compute or memory"},
                 {"roof_tflop_per_s", Unit::number,
                  "Attainable rate at this intensity: the lower of the peak and intensity x bandwidth"},
                 {"of_roof_pct", Unit::percent, "Achieved rate relative to the attainable rate"}});
}

void add_peak_note(const DevicePeaks& peaks, ResultTable& table) {
  const std::vector<std::string> unknown = peaks.without_peaks();
  if (!unknown.empty())
    table.notes.push_back(
        fmt::format("the peak of {} is unknown; set --peak-tflops and --peak-gb-per-s", fmt::join(unknown, ", ")));
}

class OperatorTable : public Analysis {
 public:
  OperatorTable(const AnalysisContext& context, bool roofline)
      : context_(context),
        roofline_(roofline),
        calls_(context),
        classes_(context.catalog.strings, context.class_rules),
        peaks_(context.catalog, context.own_peaks) {}

  void event(const Event& event, const Facts& facts) override { calls_.event(event, facts); }
  void end_of(ProcessId process) override { calls_.end_of(process); }

  // Uses full durations even if they extend past the window: a part of an operator has no rate.
  void work(const GpuWork& work) override {
    if (work.kind != Kind::kernel || work.work_class != WorkClass::compute) return;
    const std::int64_t ns = work.end_ns - work.start_ns;
    compute_ns_ += ns;
    OperatorCalls::Call* call = calls_.of(work);
    if (call == nullptr) {
      const NamedClasses::Id id = classes_.of(work);
      if (id >= without_row_ns_.size()) without_row_ns_.resize(id + std::size_t{1});
      without_row_ns_[id] += ns;
      return;
    }
    known_ns_ += ns;
    const ProcessId group = context_.keys.by == GroupBy::rank ? work.process : 0;
    Row& row = rows_[{group, call->kind}];
    const GpuPeaks* gpu = peaks_.of(work.process, work.device);
    row.gpu = row.kernels == 0 || row.gpu == gpu ? gpu : nullptr;
    if (calls_[call->kind].cost.type == MathType::fp32) {
      const MathType type =
          type_of_float(context_.catalog.strings[work.name], peaks_.hardware(work.process, work.device));
      if (type != MathType::unknown)
        row.float_type = row.float_type == MathType::unknown || row.float_type == type ? type : MathType::fp64;
    }
    ++row.kernels;
    row.time_ns += ns;
    row.count += !call->ran;
    call->ran = true;
  }

  ResultTable finish() override {
    ResultTable table{roofline_ ? "roofline" : "flops",
                      roofline_ ? roofline_columns(context_.keys) : flops_columns(context_.keys),
                      {},
                      {}};
    std::vector<std::pair<const RowKey*, const Row*>> sorted;
    for (const auto& [key, row] : rows_) sorted.push_back({&key, &row});
    std::sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
      if (a.first->first != b.first->first) return a.first->first < b.first->first;
      if (a.second->time_ns != b.second->time_ns) return a.second->time_ns > b.second->time_ns;
      const auto &one = calls_[a.first->second], &other = calls_[b.first->second];
      return std::pair(context_.catalog.strings[one.name], std::string_view(one.cost.shape)) <
             std::pair(context_.catalog.strings[other.name], std::string_view(other.cost.shape));
    });
    for (const auto& [key, row] : sorted) table.rows.push_back(cells_of(*key, *row));
    add_notes(table);
    return table;
  }

 private:
  using RowKey = std::pair<ProcessId, std::uint32_t>;  // process or 0; kind
  struct Row {
    std::int64_t count = 0, kernels = 0, time_ns = 0;
    const GpuPeaks* gpu = nullptr;            // null if unknown or if several kinds
    MathType float_type = MathType::unknown;  // how kernels multiply float; fp64 if they differ
  };

  std::vector<Cell> cells_of(const RowKey& key, const Row& row) const {
    const OperatorCalls::Kind& kind = calls_[key.second];
    std::vector<Cell> cells;
    if (context_.keys.by == GroupBy::rank) append_process(cells, context_.catalog.processes[key.first], context_.keys);
    MathType type = kind.cost.type;
    if (type == MathType::fp32) type = row.float_type == MathType::fp64 ? MathType::unknown : row.float_type;
    const std::string_view type_name = math_type_name(type);
    const double flop_per_s = row.time_ns > 0 ? static_cast<double>(kind.cost.flop) * static_cast<double>(row.count) /
                                                    static_cast<double>(row.time_ns) / 1000
                                              : 0;
    const double peak = row.gpu != nullptr ? row.gpu->tflop_per_s(type) : 0;
    const auto positive = [](double value) { return value > 0 ? Cell(value) : Cell(); };
    append(cells, std::string(context_.catalog.strings[kind.name]), kind.cost.shape,
           type_name.empty() ? Cell() : Cell(std::string(type_name)), row.count, row.time_ns, kind.cost.flop,
           positive(flop_per_s));
    if (!roofline_) {
      append(cells, positive(peak), peak > 0 ? positive(100 * flop_per_s / peak) : Cell());
      return cells;
    }
    const double intensity =
        kind.cost.bytes ? static_cast<double>(kind.cost.flop) / static_cast<double>(*kind.cost.bytes) : 0;
    const double edge = peak > 0 ? ridge(*row.gpu, type) : 0;
    const double roof = edge > 0 && intensity > 0 ? std::min(peak, intensity * row.gpu->memory_gb_per_s / 1000) : 0;
    append(cells, known(kind.cost.bytes), positive(intensity), positive(edge),
           roof > 0 ? Cell(std::string(intensity >= edge ? "compute" : "memory")) : Cell(), positive(roof),
           roof > 0 ? positive(100 * flop_per_s / roof) : Cell());
    return cells;
  }

  void add_notes(ResultTable& table) const {
    if (compute_ns_ == 0) return;
    const auto tenths = [&](std::int64_t ns) { return (1000 * ns + compute_ns_ / 2) / compute_ns_; };
    const auto share = [&](std::int64_t ns) { return fmt::format("{}.{} %", tenths(ns) / 10, tenths(ns) % 10); };
    std::vector<std::pair<std::int64_t, NamedClasses::Id>> without;
    for (NamedClasses::Id id = 0; id < without_row_ns_.size(); ++id) {
      if (tenths(without_row_ns_[id]) > 0) without.emplace_back(-without_row_ns_[id], id);
    }
    std::sort(without.begin(), without.end());
    std::string note =
        share(known_ns_) + " of compute kernel time is in this table, " + share(compute_ns_ - known_ns_) + " is not";
    for (std::size_t i = 0; i < without.size(); ++i)
      note += (i == 0 ? ": " : ", ") + classes_[without[i].second] + ' ' + share(-without[i].first);
    table.notes.push_back(std::move(note));
    for (const auto& [name, inputs] : calls_.without_cost()) {
      const std::string_view operator_name = context_.catalog.strings[name];
      table.notes.push_back(fmt::format("calls of {} are excluded: {}", operator_name,
                                        missing_cost(context_.catalog, operator_name, inputs)));
    }
    add_peak_note(peaks_, table);
    if (rows_.empty())
      table.notes.push_back(
          "no operators with known sizes; TRACETOOL_TORCH=shapes records sizes, and so does record_shapes=True of torch.profiler");
  }

  const AnalysisContext& context_;
  bool roofline_;
  OperatorCalls calls_;
  NamedClasses classes_;
  DevicePeaks peaks_;
  std::map<RowKey, Row> rows_;
  std::int64_t compute_ns_ = 0, known_ns_ = 0;
  std::vector<std::int64_t> without_row_ns_;  // by class: kernels of calls without a known cost
};

std::vector<Column> mfu_columns(RowKeys keys) {
  std::vector<Column> columns = process_columns(keys);
  return joined(
      joined(std::move(columns), {kDeviceColumn, kStepColumn}),
      {{"step_ns", Unit::ns, "Duration of the step on the GPU, as in steps"},
       {"operator_tflop", Unit::number, "Operations (10^12) of the operators with known sizes launched in the step"},
       {"type", Unit::text, "Number type of most of these operations"},
       {"peak_tflop_per_s", Unit::number, "Peak rate of the GPU for this type, dense"},
       {"operator_pct", Unit::percent, "operator_tflop relative to the peak of the GPU over the step"},
       {"mfu_pct", Unit::percent,
        "Model FLOPs utilization: the model's operations (--flops-per-step) relative to the peak over the step"}});
}

class MfuTable : public Analysis {
 public:
  explicit MfuTable(const AnalysisContext& context)
      : context_(context), calls_(context), peaks_(context.catalog, context.own_peaks) {}

  void event(const Event& event, const Facts& facts) override { calls_.event(event, facts); }
  void end_of(ProcessId process) override { calls_.end_of(process); }
  void work(const GpuWork& work) override {
    const auto& windows = context_.windows.of(work.process);
    std::vector<Flops>& steps = devices_.try_emplace({work.process, work.device}, windows.size()).first->second;
    if (work.kind != Kind::kernel || work.work_class != WorkClass::compute) return;
    OperatorCalls::Call* call = calls_.of(work);
    const auto step = window_of(context_.windows, work);
    if (call == nullptr || call->ran || !step) return;
    call->ran = true;
    const OperatorCost& cost = calls_[call->kind].cost;
    const MathType type = cost.type == MathType::fp32 ? type_of_float(context_.catalog.strings[work.name],
                                                                      peaks_.hardware(work.process, work.device))
                                                      : cost.type;
    steps[*step][static_cast<std::size_t>(type)] += cost.flop;
  }
  ResultTable finish() override {
    ResultTable table{"mfu", mfu_columns(context_.keys), {}, {}};
    for (const auto& [key, steps] : devices_) {
      const GpuPeaks* gpu = peaks_.of(key.first, key.second);
      for (std::size_t i = 0; i < steps.size(); ++i) {
        const AnalysisWindow& window = context_.windows.of(key.first)[i];
        const auto most = std::max_element(steps[i].begin() + 1, steps[i].end());
        const MathType type = *most > 0 ? static_cast<MathType>(most - steps[i].begin()) : MathType::unknown;
        const double all = std::accumulate(steps[i].begin(), steps[i].end(), 0.0);
        const double peak = gpu != nullptr ? gpu->tflop_per_s(type) : 0,
                     could = 1000 * peak * static_cast<double>(window.to_ns - window.from_ns);
        const auto share = [&](double flop) { return flop > 0 && could > 0 ? Cell(100 * flop / could) : Cell(); };
        std::vector<Cell>& cells = table.rows.emplace_back();
        append_process(cells, context_.catalog.processes[key.first], context_.keys);
        append(cells, key.second, known(window.step), window.to_ns - window.from_ns,
               all > 0 ? Cell(all / 1e12) : Cell(),
               type == MathType::unknown ? Cell() : Cell(std::string(math_type_name(type))),
               peak > 0 ? Cell(peak) : Cell(), share(all), share(context_.flops_per_step));
      }
    }
    if (context_.flops_per_step <= 0)
      table.notes.push_back("mfu_pct needs --flops-per-step N: the operations of the model in one step on one rank");
    add_peak_note(peaks_, table);
    return table;
  }

 private:
  using Flops = std::array<double, kMathTypes>;  // by MathType

  const AnalysisContext& context_;
  OperatorCalls calls_;
  DevicePeaks peaks_;
  std::map<std::pair<ProcessId, std::int64_t>, std::vector<Flops>> devices_;  // by step
};

}  // namespace

AnalysisEntry mfu_analysis() {
  return {.name = "mfu",
          .meaning = "FLOPs of the operators and of the model in each step, relative to the peak of the GPU",
          .by = {GroupBy::step},
          .columns = mfu_columns,
          .make = make_analysis<MfuTable>,
          .on_request = true,
          .needs = {.kinds = OperatorCalls::kinds(), .effort = 0}};  // few operators have a known cost
}

AnalysisEntry flops_analysis() {
  return {.name = "flops",
          .meaning = "FLOPs of operators with known sizes: rate, and share of the peak of the GPU",
          .by = {GroupBy::none, GroupBy::rank},
          .columns = flops_columns,
          .make = [](const AnalysisContext& context) -> std::unique_ptr<Analysis> {
            return std::make_unique<OperatorTable>(context, false);
          },
          .on_request = true,
          .needs = {.kinds = OperatorCalls::kinds(), .effort = 0}};  // few operators have a known cost
}

AnalysisEntry roofline_analysis() {
  return {.name = "roofline",
          .meaning = "Roofline of operators with known sizes: intensity, bound, and share of the attainable rate",
          .by = {GroupBy::none, GroupBy::rank},
          .columns = roofline_columns,
          .make = [](const AnalysisContext& context) -> std::unique_ptr<Analysis> {
            return std::make_unique<OperatorTable>(context, true);
          },
          .on_request = true,
          .needs = {.kinds = OperatorCalls::kinds(), .effort = 0}};  // few operators have a known cost
}

}  // namespace cli
