// flops, roofline, mfu: the computation of operators with known inputs, its rate, and the share of its limit. Kernels
// are those that the operator launched (operator_flops.h). Memory: 32 bytes per recent operator of a process, plus the
// rows.
#include <numeric>

#include "cli/answers/tables/cells.h"
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
  return joined(joined(rank_columns(keys), kOperatorColumns),
                {{"peak_tflop_per_s", Unit::number, "Peak rate of the GPU for this type, dense"},
                 {"of_peak_pct", Unit::percent, "Achieved rate relative to the peak"}});
}

std::vector<Column> roofline_columns(RowKeys keys) {
  return joined(joined(rank_columns(keys), kOperatorColumns),
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
      : Analysis(context),
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
    const ProcessId group = group_of(work.process);
    Row& row = rows_[{group, call->kind}];
    const GpuPeaks* gpu = peaks_.of(work.process, work.device);
    row.gpu = row.kernels == 0 || row.gpu == gpu ? gpu : nullptr;
    if (calls_[call->kind].cost.type == MathType::fp32) {
      const MathType type = type_of_float(name_of(work.name), peaks_.hardware(work.process, work.device));
      if (type != MathType::unknown)
        row.float_type = row.float_type == MathType::unknown || row.float_type == type ? type : MathType::fp64;
    }
    ++row.kernels;
    row.time_ns += ns;
    row.count += !call->ran;
    call->ran = true;
  }

  void finish(ResultTable& table) override {
    const auto order = [&](const auto& entry) {
      const OperatorCalls::Kind& kind = calls_[entry.first.second];
      return std::tuple(entry.first.first, -entry.second.time_ns, name_of(kind.name),
                        std::string_view(kind.cost.shape));
    };
    for (const auto* entry : sorted_entries(rows_, order)) table.rows.push_back(cells_of(entry->first, entry->second));
    add_notes(table);
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
    std::vector<Cell> cells = rank_cells(key.first);
    MathType type = kind.cost.type;
    if (type == MathType::fp32) type = row.float_type == MathType::fp64 ? MathType::unknown : row.float_type;
    const double flop_per_s = row.time_ns > 0 ? static_cast<double>(kind.cost.flop) * static_cast<double>(row.count) /
                                                    static_cast<double>(row.time_ns) / 1000
                                              : 0;
    const double peak = row.gpu != nullptr ? row.gpu->tflop_per_s(type) : 0;
    const auto positive = [](double value) { return value > 0 ? Cell(value) : Cell(); };
    append(cells, name_of(kind.name), kind.cost.shape, text_cell(math_type_name(type)), row.count, row.time_ns,
           kind.cost.flop, positive(flop_per_s));
    if (!roofline_) {
      append(cells, positive(peak), peak > 0 ? positive(100 * flop_per_s / peak) : Cell());
      return cells;
    }
    const double intensity =
        kind.cost.bytes ? static_cast<double>(kind.cost.flop) / static_cast<double>(*kind.cost.bytes) : 0;
    const double edge = peak > 0 ? ridge(*row.gpu, type) : 0;
    const double roof = edge > 0 && intensity > 0 ? std::min(peak, intensity * row.gpu->memory_gb_per_s / 1000) : 0;
    append(cells, kind.cost.bytes, positive(intensity), positive(edge),
           roof > 0 ? Cell(intensity >= edge ? "compute" : "memory") : Cell(), positive(roof),
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
      const std::string_view operator_name = name_of(name);
      table.notes.push_back(fmt::format("calls of {} are excluded: {}", operator_name,
                                        missing_cost(context_.catalog, operator_name, inputs)));
    }
    add_peak_note(peaks_, table);
    if (rows_.empty())
      table.notes.push_back(
          "no operators with known sizes; TRACETOOL_TORCH=shapes records sizes, and so does record_shapes=True of torch.profiler");
  }

  bool roofline_;
  OperatorCalls calls_;
  NamedClasses classes_;
  DevicePeaks peaks_;
  std::map<RowKey, Row> rows_;
  std::int64_t compute_ns_ = 0, known_ns_ = 0;
  std::vector<std::int64_t> without_row_ns_;  // by class: kernels of calls without a known cost
};

std::vector<Column> mfu_columns(RowKeys keys) {
  return joined(
      joined(process_columns(keys), {kDeviceColumn, kStepColumn}),
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
      : Analysis(context), calls_(context), peaks_(context.catalog, context.own_peaks) {}

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
    const MathType type = cost.type == MathType::fp32
                              ? type_of_float(name_of(work.name), peaks_.hardware(work.process, work.device))
                              : cost.type;
    steps[*step][static_cast<std::size_t>(type)] += cost.flop;
  }
  void finish(ResultTable& table) override {
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
        append(table.rows.emplace_back(device_cells(key.first, key.second, window.step)), window.to_ns - window.from_ns,
               all > 0 ? Cell(all / 1e12) : Cell(), text_cell(math_type_name(type)), peak > 0 ? Cell(peak) : Cell(),
               share(all), share(context_.flops_per_step));
      }
    }
    if (context_.flops_per_step <= 0)
      table.notes.push_back("mfu_pct needs --flops-per-step N: the operations of the model in one step on one rank");
    add_peak_note(peaks_, table);
  }

 private:
  using Flops = std::array<double, kMathTypes>;  // by MathType

  OperatorCalls calls_;
  DevicePeaks peaks_;
  std::map<std::pair<ProcessId, std::int64_t>, std::vector<Flops>> devices_;  // by step
};

}  // namespace

AnalysisEntry mfu_analysis() {
  return analysis_entry<MfuTable, mfu_columns>(
      {.name = "mfu",
       .meaning = "FLOPs of the operators and of the model in each step, relative to the peak of the GPU",
       .by = {GroupBy::step},
       .needs = {.kinds = OperatorCalls::kinds(), .effort = 0}});  // few operators have a known cost
}

AnalysisEntry flops_analysis() {
  return analysis_entry<OperatorTable, flops_columns, false>(
      {.name = "flops",
       .meaning = "FLOPs of operators with known sizes: rate, and share of the peak of the GPU",
       .by = {GroupBy::none, GroupBy::rank},
       .needs = {.kinds = OperatorCalls::kinds(), .effort = 0}});  // few operators have a known cost
}

AnalysisEntry roofline_analysis() {
  return analysis_entry<OperatorTable, roofline_columns, true>(
      {.name = "roofline",
       .meaning = "Roofline of operators with known sizes: intensity, bound, and share of the attainable rate",
       .by = {GroupBy::none, GroupBy::rank},
       .needs = {.kinds = OperatorCalls::kinds(), .effort = 0}});  // few operators have a known cost
}

}  // namespace cli
