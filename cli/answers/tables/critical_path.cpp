// critical_path: what limited each step, over all ranks (path_walk.h), by class and by rank.
#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/named_classes.h"
#include "cli/answers/tables/path_walk.h"
#include "cli/answers/tables/whole_steps.h"

namespace cli {
namespace {

// "" is for work, which has the name of its class
constexpr std::array<std::string_view, 6> kPartNames{"", "launch", "queued", "host", "sync", "unexplained"};

std::vector<Column> path_columns(RowKeys keys) {
  std::vector<Column> columns;
  if (keys.by == GroupBy::step) columns.push_back(kStepColumn);
  columns.push_back(
      {"rank", Unit::number, "Rank on the path; empty for the transfer of a collective, which belongs to all ranks"});
  if (keys.phases) columns.push_back(kPhaseColumn);
  return joined(std::move(columns),
                {{"class", Unit::text,
                  "Class of the path segment: a kernel class (see classes), launch, queued, host, sync or unexplained"},
                 {"time_ns", Unit::ns, "Time on the path; the rows of a step add up to its duration"},
                 {"share_pct", Unit::percent, "Share of the step, or of all steps"},
                 {"segments", Unit::count,
                  "Number of segments: each is one kernel, one CUDA call, or the time in one operator or range"},
                 {"top_name", Unit::text,
                  "Name with the most time: a kernel, a call, or the innermost operator or range of the host"},
                 {"top_ns", Unit::ns, "Time of top_name on the path"}});
}

// Returns the chosen steps that are completely within the chosen time on every rank that has them.
Windows steps_of_all(const AnalysisContext& context) {
  const Windows whole = whole_steps(context);
  std::map<std::int64_t, std::int64_t> cut;  // by number: on how many ranks the step is incomplete
  for (ProcessId id = 0; id < context.steps.size(); ++id) {
    for (const Step& step : context.steps[id]) ++cut[step.number];
    for (const AnalysisWindow& step : whole.of(id)) --cut[step.step.value_or(0)];
  }
  Steps steps = context.steps;
  for (auto& own : steps) std::erase_if(own, [&](const Step& step) { return cut[step.number] != 0; });
  return Windows(steps, true, std::vector<TimeWindow>(steps.size(), {kEarliest_ns, kLatest_ns})).host();
}

class CriticalPath : public Analysis {
 public:
  explicit CriticalPath(const AnalysisContext& context)
      : Analysis(context),
        steps_(steps_of_all(context)),
        trace_(context, steps_),
        classes_(context.catalog.strings, context.class_rules) {}

  void event(const Event& event, const Facts& facts) override {
    event.kind == Kind::sync ? trace_.sync(event, facts) : trace_.host(event);
  }
  void work(const GpuWork& work) override { trace_.work(work, classes_.of(work)); }
  void end_of(ProcessId process) override { trace_.end_of(process); }

  void finish(ResultTable& table) override {
    if (trace_.is_full()) {
      table.notes.push_back(fmt::format(
          "more than {} kernels, copies and calls: choose fewer or later steps (--steps), or fewer ranks (--ranks)",
          PathTrace::kMost));
      return;
    }
    trace_.meet(*context_.collectives);
    const std::vector<PathSpan> spans = trace_.spans(whole());
    PathWalk walk(trace_, context_.catalog);
    std::int64_t whole_ns = 0;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const std::size_t row = by(GroupBy::step) ? i : 0;
      whole_ns += spans[i].to_ns - spans[i].from_ns;
      walk.walk(spans[i], [&](const PathSegment& segment) { add(row, segment); });
    }
    add_rows(spans, whole_ns, table);
    table.notes = notes(spans, whole_ns, walk.inferred());
  }

 private:
  struct Key {
    std::size_t step = 0;  // if rows are steps
    std::optional<ProcessId> process;
    PathPart part{};
    std::uint32_t work_class = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Row {
    std::int64_t ns = 0, segments = 0;
    std::map<StringId, std::int64_t> names_ns;
  };

  AnalysisWindow whole() const {
    for (ProcessId id = 0; id < context_.chosen.size(); ++id) {
      const auto& windows = context_.windows.of(id);
      if (context_.chosen[id] && !windows.empty()) return {windows.front().from_ns, windows.back().to_ns};
    }
    return {};
  }

  void add(std::size_t step, const PathSegment& segment) {
    Row& row = rows_[{step, segment.process, segment.part, segment.work_class}];
    row.ns += segment.to_ns - segment.from_ns;
    row.names_ns[segment.name] += segment.to_ns - segment.from_ns;
    ++row.segments;
  }

  void add_rows(const std::vector<PathSpan>& spans, std::int64_t whole_ns, ResultTable& table) const {
    const auto order = [](const auto& entry) { return std::pair(entry.first.step, -entry.second.ns); };
    for (const auto* entry : sorted_entries(rows_, order)) {
      const auto& [key, row] = *entry;
      std::vector<Cell>& cells = table.rows.emplace_back();
      const bool by_step = by(GroupBy::step);
      if (by_step) append(cells, spans[key.step].step);
      if (key.process) {
        append_process(cells, context_.catalog.processes[*key.process], context_.keys);
      } else {
        cells.resize(cells.size() + process_columns(context_.keys).size());
      }
      const std::int64_t all_ns = by_step ? spans[key.step].to_ns - spans[key.step].from_ns : whole_ns;
      const auto longest = std::ranges::max_element(row.names_ns, {}, [](const auto& each) { return each.second; });
      append(cells,
             key.part == PathPart::work ? cell_of(classes_[key.work_class])
                                        : cell_of(kPartNames[static_cast<std::size_t>(key.part)]),
             row.ns, percent(row.ns, all_ns), row.segments, text_cell(name_of(longest->first)), longest->second);
    }
  }

  std::vector<std::string> notes(const std::vector<PathSpan>& spans, std::int64_t whole_ns,
                                 std::uint64_t inferred) const {
    if (spans.empty()) return {"no GPU work in the chosen steps or time"};
    std::vector<std::string> found{most_text(spans, whole_ns)};
    if (inferred > 0) {
      found.push_back(
          fmt::format("{} began right after work of another stream ended; the path assumes that they waited for it",
                      count_text(inferred, "kernel or copy", "kernels and copies")));
    }
    if (!trace_.knows_launches()) found.push_back("no launches in the trace: host activity is unknown");
    if (trace_.uncompared() > 0) {
      found.push_back(
          fmt::format("the clocks of some ranks cannot be compared; the path does not follow {} to the last rank",
                      count_text(trace_.uncompared(), "collective", "collectives")));
    }
    const auto more = collective_notes(context_);
    found.insert(found.end(), more.begin(), more.end());
    return found;
  }

  // Returns which rank was on the path longest.
  std::string most_text(const std::vector<PathSpan>& spans, std::int64_t whole_ns) const {
    std::map<std::int64_t, std::int64_t> ranks_ns;
    std::int64_t shared_ns = 0;
    for (const auto& [key, row] : rows_) {
      (key.process ? ranks_ns[context_.catalog.processes[*key.process].rank] : shared_ns) += row.ns;
    }
    const std::string of =
        fmt::format("{}{}", duration_text(whole_ns),
                    spans.front().step ? " in " + count_text(spans.size(), "step", "steps") : std::string());
    const auto most = std::ranges::max_element(ranks_ns, {}, [](const auto& each) { return each.second; });
    std::string text = most == ranks_ns.end() || most->first < 0
                           ? "the path lasts " + of
                           : fmt::format("rank {} has the most time on the path: {} of {}", most->first,
                                         duration_text(most->second), of);
    if (shared_ns > 0)
      text += fmt::format("; transfers of collectives, on all ranks, take {}", duration_text(shared_ns));
    return text;
  }

  Windows steps_;
  PathTrace trace_;
  NamedClasses classes_;
  std::map<Key, Row> rows_;
};

}  // namespace

AnalysisEntry critical_path_analysis() {
  return analysis_entry<CriticalPath, path_columns>(
      {.name = "critical_path",
       .meaning = "Critical path of each step over all ranks: kernels, copies, transfers, launches, host",
       .by = {GroupBy::none, GroupBy::step},
       .needs = {.collectives = true,
                 .kinds = kinds_of({Kind::runtime, Kind::driver, Kind::cpu_op, Kind::user_annotation, Kind::nvtx,
                                    Kind::nccl, Kind::sync}),
                 .any_time = true}});
}

}  // namespace cli
