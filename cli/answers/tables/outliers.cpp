// outliers: steps and kernels that took far longer than others of their kind. Memory: 8 bytes per kernel, plus 16 per
// kernel name and step.
//
// Criterion: a value is an outlier if it exceeds the median m of its kind by more than kMads x d, where d is the median
// of |value - m| (MAD), and by more than a share of m, which excludes nearly equal values. Kinds with fewer than
// kFewest values have no outliers. All steps of all chosen ranks are one kind; the share is kStepShare of m.
// Kernels with the same name, grid and block on all chosen ranks are a kind; the share is kKernelShare of m. If more
// than kMostOutliers of a kind would be outliers, it has several speeds, and none is. Outliers of a kind on a rank are
// noise and omitted if their total excess over the median is less than kLeastCost of the rank's kernel time.
// Communication kernels wait for other ranks (`stragglers`) and are omitted.
#include <tuple>
#include <unordered_map>

#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/gpu_time.h"
#include "cli/answers/tables/whole_steps.h"

namespace cli {
namespace {

constexpr std::int64_t kMads = 5;
constexpr std::size_t kFewest = 8;
constexpr std::int64_t kStepShare = 20, kKernelShare = 4;  // 1 / N of the median
constexpr std::size_t kMostOutliers = 10;                  // 1 / N of a kind
constexpr std::int64_t kLeastCost = 1000;                  // 1 / N of a rank's kernel time

std::vector<Column> outlier_columns(RowKeys keys) {
  return joined(
      joined({{"what", Unit::text, "step or kernel"}}, process_columns(keys)),
      {{"step", Unit::number, "Number of the step; for a kernel, the step that launched its longest outlier"},
       {"name", Unit::text, "Kernel name, demangled"},
       {"grid", Unit::extent, "Blocks of the kernel, in x, y and z"},
       {"block", Unit::extent, "Threads per block, in x, y and z"},
       {"count", Unit::count, "Number of outliers in the row: 1 for a step, all of the rank for a kernel"},
       {"of_count", Unit::count, "Number of values of this kind on all chosen ranks"},
       {"median_ns", Unit::ns, "Median of all values of this kind"},
       {"mad_ns", Unit::ns, "Median absolute deviation of all values of this kind"},
       {"longest_ns", Unit::ns, "Longest outlier in the row"},
       {"at_ns", Unit::ns, "Start of the longest outlier, since the start of the trace"},
       {"excess_ns", Unit::ns, "Total time above the median"},
       {"differs", Unit::text,
        "Part of a step that grew most above its median: idle, compute, exposed_comm or memory (copies and memsets alone)"},
       {"grew_ns", Unit::ns, "Growth of the part in differs"},
       {"kernel", Unit::text, "Kernel with the largest growth above its median over the rank's steps"},
       {"kernel_grew_ns", Unit::ns, "Growth of the time of that kernel"}});
}

struct Usual {
  std::size_t count = 0;
  std::int64_t median_ns = 0, mad_ns = 0;
  std::int64_t limit_ns = 0;  // larger values are outliers

  Usual(std::vector<std::int64_t> values, std::int64_t share) : count(values.size()), median_ns(median(values)) {
    for (std::int64_t& value : values) value = std::abs(value - median_ns);
    mad_ns = median(values);
    limit_ns = median_ns + std::max(kMads * mad_ns, median_ns / share);
  }
  bool is_outlier(std::int64_t ns) const { return count >= kFewest && ns > limit_ns; }
};

class OutlierTable : public Analysis {
 public:
  explicit OutlierTable(const AnalysisContext& context)
      : Analysis(context),
        by_step_(context),
        steps_(by_step_.windows),
        times_(by_step_),
        kernels_ns_(context.catalog.processes.size()) {
    by_step_.windows = whole_steps(context);
  }

  void work(const GpuWork& work) override {
    times_.add(work);
    const auto step = steps_.launched_in(work.process, work.launched_ns);
    if (context_.windows.are_steps() && !window_of(context_.windows, work)) return;
    if (work.kind != Kind::kernel || work.work_class == WorkClass::comm) return;
    const std::int64_t ns = work.end_ns - work.start_ns;
    OfRank& of_rank = rank_of(work);
    of_rank.ns.push_back(ns);
    kernels_ns_[work.process] += ns;
    if (of_rank.ns.size() == 1 || ns > of_rank.longest_ns)
      of_rank.longest_ns = ns, of_rank.at_ns = work.start_ns, of_rank.step = step;
    if (!step) return;
    if (of_rank.in_steps == nullptr) of_rank.in_steps = &open_in_steps_[work.process][work.name];
    if (of_rank.in_steps->newest != step) of_rank.in_steps->open(*step);
    *of_rank.in_steps->newest_ns += ns;
  }

  void end_of(ProcessId process) override {
    for (OfRank* of_rank : open_) {
      of_rank->ns.shrink_to_fit();
      of_rank->in_steps = nullptr;
    }
    open_.clear();
    const auto own = open_in_steps_.find(process);
    if (own == open_in_steps_.end()) return;
    std::vector<NsInStep>& all = in_steps_[process];
    for (const auto& [name, in_steps] : own->second) {
      for (const auto& [step, ns] : in_steps.all) all.push_back({name, static_cast<std::uint32_t>(step), ns});
    }
    all.shrink_to_fit();
    open_in_steps_.erase(own);
  }

  void finish(ResultTable& table) override {
    while (!open_in_steps_.empty()) end_of(open_in_steps_.begin()->first);
    add_steps(table);
    add_kernels(table);
  }

 private:
  // Grid and block. The rest of a launch configuration mostly follows from the name.
  using Shape = std::array<std::uint32_t, 6>;
  struct NsInSteps {
    std::map<std::size_t, std::int64_t> all;  // by step
    std::optional<std::size_t> newest;
    std::int64_t* newest_ns = nullptr;

    void open(std::size_t step) {
      newest = step;
      newest_ns = &all[step];
    }
  };
  struct NsInStep {
    StringId name;
    std::uint32_t step;
    std::int64_t ns;
  };
  struct OfRank {
    std::vector<std::int64_t> ns;
    std::int64_t longest_ns = 0, at_ns = 0;
    std::optional<std::size_t> step;
    NsInSteps* in_steps = nullptr;  // of this name on this rank
  };
  using Ranks = std::map<ProcessId, OfRank>;
  struct Kernel {
    Ranks* ranks = nullptr;
    OfRank* newest = nullptr;  // the rank of the previous such kernel
    ProcessId newest_id = 0;
  };

  OfRank& rank_of(const GpuWork& work) {
    Kernel& kernel = kinds_[std::uint64_t{work.name} << 32 | work.launch];
    if (kernel.ranks == nullptr) kernel.ranks = &kernels_[{work.name, shape_of(work.launch)}];
    if (kernel.newest == nullptr || kernel.newest_id != work.process) {
      const auto [known, is_new] = kernel.ranks->try_emplace(work.process);
      kernel.newest = &known->second;
      if (is_new) open_.push_back(kernel.newest);
      kernel.newest_id = work.process;
    }
    return *kernel.newest;
  }

  Shape shape_of(LaunchId launch) const {
    if (launch == 0) return {};
    const Launch& l = context_.catalog.launches[launch];
    return {l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2]};
  }

  // Disjoint parts; together they are the step.
  struct Parts {
    std::string_view name;
    std::int64_t (*of)(const DeviceTime& time);
  };
  static constexpr Parts kParts[] = {
      {"idle", [](const DeviceTime& t) { return t.idle_ns(); }},
      {"compute", [](const DeviceTime& t) { return t.compute_ns; }},
      {"exposed_comm", [](const DeviceTime& t) { return t.exposed_comm_ns; }},
      {"memory", [](const DeviceTime& t) { return t.busy_ns - t.compute_ns - t.exposed_comm_ns; }}};

  void add_steps(ResultTable& table) {
    std::vector<std::int64_t> lengths;
    for (ProcessId id = 0; id < context_.catalog.processes.size(); ++id) {
      if (!context_.chosen[id]) continue;
      for (const AnalysisWindow& step : steps_.of(id)) lengths.push_back(step.to_ns - step.from_ns);
    }
    if (lengths.empty()) table.notes.push_back("no training steps were found; only kernels are compared");
    if (!lengths.empty() && lengths.size() < kFewest)
      table.notes.push_back("fewer than " + std::to_string(kFewest) + " steps: no step is reported as an outlier");
    const Usual usual(std::move(lengths), kStepShare);
    const auto rows = times_.rows();
    std::vector<std::tuple<std::int64_t, ProcessId, std::size_t>> found;
    for (ProcessId id = 0; id < context_.catalog.processes.size(); ++id) {
      if (!context_.chosen[id]) continue;
      for (std::size_t i = 0; i < steps_.of(id).size(); ++i) {
        const std::int64_t ns = steps_.of(id)[i].to_ns - steps_.of(id)[i].from_ns;
        if (usual.is_outlier(ns)) found.push_back({usual.median_ns - ns, id, i});
      }
    }
    std::sort(found.begin(), found.end());
    for (const auto& [less, id, i] : found) add_step(usual, id, i, rows, table);
  }

  void add_step(const Usual& usual, ProcessId id, std::size_t at, const std::vector<DeviceTimes::Row>& rows,
                ResultTable& table) const {
    const AnalysisWindow& step = steps_.of(id)[at];
    const std::int64_t ns = step.to_ns - step.from_ns;
    std::vector<Cell>& cells = table.rows.emplace_back(std::vector<Cell>{"step"});
    append_process(cells, context_.catalog.processes[id], context_.keys);
    append(cells, step.step, Cell(), Cell(), Cell(), 1, usual.count, usual.median_ns, usual.mad_ns, ns,
           context_.since_start(id, step.from_ns), ns - usual.median_ns);
    // If there are several devices, the one that differs most.
    std::string_view differs;
    std::int64_t differs_ns = 0;
    std::map<std::int64_t, std::vector<const DeviceTime*>> devices;
    for (const DeviceTimes::Row& row : rows) {
      if (row.process == id && row.device) devices[*row.device].push_back(&row.time);
    }
    for (const auto& [device, times] : devices) {
      for (const Parts& part : kParts) {
        std::vector<std::int64_t> all;
        for (const DeviceTime* time : times) all.push_back(part.of(*time));
        const std::int64_t grew_ns = part.of(*times[at]) - median(all);
        if (grew_ns > differs_ns) differs = part.name, differs_ns = grew_ns;
      }
    }
    append(cells, text_cell(differs), differs.empty() ? Cell() : Cell(differs_ns));
    StringId kernel = 0;
    std::int64_t kernel_ns = 0;
    const auto in_steps = in_steps_.find(id);
    if (in_steps != in_steps_.end()) {
      for (auto first = in_steps->second.begin(); first != in_steps->second.end();) {
        const StringId name = first->name;
        std::vector<std::int64_t> all(steps_.of(id).size());
        for (; first != in_steps->second.end() && first->name == name; ++first) all[first->step] = first->ns;
        const std::int64_t own_ns = all[at], grew_ns = own_ns - median(all);
        const bool before = grew_ns == kernel_ns && kernel != 0 && name_of(name) < name_of(kernel);
        if (grew_ns > kernel_ns || before) kernel = name, kernel_ns = grew_ns;
      }
    }
    append(cells, kernel == 0 ? Cell() : cell_of(name_of(kernel)), kernel == 0 ? Cell() : Cell(kernel_ns));
  }

  void add_kernels(ResultTable& table) {
    std::vector<std::vector<Cell>> rows;
    std::size_t several_speeds = 0, cheap = 0;
    for (const auto& [kind, ranks] : kernels_) {
      std::vector<std::int64_t> all;
      for (const auto& [id, of_rank] : ranks) all.insert(all.end(), of_rank.ns.begin(), of_rank.ns.end());
      const Usual usual(all, kKernelShare);
      const auto outliers = static_cast<std::size_t>(
          std::count_if(all.begin(), all.end(), [&](std::int64_t ns) { return usual.is_outlier(ns); }));
      if (outliers == 0) continue;
      if (outliers * kMostOutliers > all.size()) {
        ++several_speeds;
        continue;
      }
      for (const auto& [id, of_rank] : ranks) {
        std::int64_t excess_ns = 0, count = 0;
        for (const std::int64_t ns : of_rank.ns) {
          if (usual.is_outlier(ns)) ++count, excess_ns += ns - usual.median_ns;
        }
        if (count == 0) continue;
        if (excess_ns < kernels_ns_[id] / kLeastCost) {
          ++cheap;
        } else {
          rows.push_back(kernel_row(kind, usual, id, of_rank, count, excess_ns));
        }
      }
    }
    const std::size_t excess_at = table.columns.size() - 5;
    std::ranges::sort(rows, {},
                      [&](const auto& row) { return std::tuple(-std::get<std::int64_t>(row[excess_at]), row); });
    table.rows.insert(table.rows.end(), rows.begin(), rows.end());
    if (cheap > 0) {
      table.notes.push_back("outliers of " + std::to_string(cheap) +
                            " more kernels and ranks are omitted: together they took less than 1/" +
                            std::to_string(kLeastCost) + " of the rank's kernel time");
    }
    if (several_speeds > 0) {
      table.notes.push_back(std::to_string(several_speeds) +
                            " kernels (by name and launch configuration) exceed the limit in more than 1 of " +
                            std::to_string(kMostOutliers) +
                            " instances; they have several usual durations and are not reported as outliers");
    }
  }

  std::vector<Cell> kernel_row(const std::pair<StringId, Shape>& kind, const Usual& usual, ProcessId id,
                               const OfRank& of_rank, std::int64_t count, std::int64_t excess_ns) const {
    std::vector<Cell> cells{"kernel"};
    append_process(cells, context_.catalog.processes[id], context_.keys);
    const Shape& s = kind.second;
    const bool shaped = s != Shape{};
    append(cells, of_rank.step ? cell_of(steps_.of(id)[*of_rank.step].step) : Cell(), name_of(kind.first),
           shaped ? Cell(Extent{s[0], s[1], s[2]}) : Cell(), shaped ? Cell(Extent{s[3], s[4], s[5]}) : Cell(), count,
           usual.count, usual.median_ns, usual.mad_ns, of_rank.longest_ns, context_.since_start(id, of_rank.at_ns),
           excess_ns, Cell(), Cell(), Cell(), Cell());
    return cells;
  }

  AnalysisContext by_step_;  // its windows are the whole steps
  const Windows& steps_;
  DeviceTimes times_;
  std::map<std::pair<StringId, Shape>, Ranks> kernels_;
  std::unordered_map<std::uint64_t, Kernel> kinds_;      // in kernels_, by name and launch
  std::vector<std::int64_t> kernels_ns_;                 // by ProcessId
  std::map<ProcessId, std::vector<NsInStep>> in_steps_;  // by name and step, for ended processes
  // For processes that have not ended:
  std::map<ProcessId, std::map<StringId, NsInSteps>> open_in_steps_;
  std::vector<OfRank*> open_;
};

}  // namespace

AnalysisEntry outliers_analysis() {
  return analysis_entry<OutlierTable, outlier_columns>(
      {.name = "outliers",
       .meaning = "Steps and kernels that took far longer than the median of their kind, and what differs in them",
       .by = {GroupBy::none},
       .needs = {.by_time = true, .launches = true}});
}

}  // namespace cli
