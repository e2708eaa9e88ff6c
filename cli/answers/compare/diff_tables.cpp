#include "cli/answers/compare/diff_tables.h"

#include <cmath>

#include "cli/answers/tables/cells.h"
#include "cli/trace/ranks.h"
#include "cli/trace/short_name.h"

namespace cli::comparison {
namespace {

struct GroupTable {
  QuantityGroup group;
  std::string_view name;
  bool has_counts;
};
constexpr std::array<GroupTable, 6> kGroupTables{{{QuantityGroup::step, "step", false},
                                                  {QuantityGroup::idle, "idle", false},
                                                  {QuantityGroup::work_class, "classes", true},
                                                  {QuantityGroup::kernel, "kernels", true},
                                                  {QuantityGroup::operation, "operators", true},
                                                  {QuantityGroup::collective, "collectives", true}}};
constexpr std::string_view kRuns = "runs", kParts = "parts", kSequence = "sequence";

constexpr Column kChange{"change", Unit::text,
                         "grew, shrank, appeared (in no step of A) or vanished; empty if unchanged"};
constexpr Column kOld{"old_ns", Unit::ns, "Value in A: median over the steps of the mean over the GPUs"};
constexpr Column kNew{"new_ns", Unit::ns, "Value in B: median over the steps of the mean over the GPUs"};
constexpr Column kDifference{"difference_ns", Unit::ns, "new_ns - old_ns"};
constexpr Column kNoise{
    "noise_ns", Unit::ns,
    "Largest difference expected between identical runs; an upper bound for 3 to 7 steps; empty for fewer"};
constexpr Column kRelative{"relative_pct", Unit::percent, "Difference relative to old_ns"};

Cell rounded(double value) { return cell_of(std::llround(value)); }

// An integer if the count is the same on all GPUs.
Cell count_cell(double count) {
  return count == std::floor(count) ? Cell(static_cast<std::int64_t>(count)) : Cell(count);
}

std::vector<Column> change_columns(const GroupTable& table) {
  std::vector<Column> columns{kChange, kOld, kNew, kDifference, kNoise, kRelative};
  if (table.has_counts) {
    columns.push_back(
        {"old_count", Unit::count, "Number per step of A: median over the steps of the mean over the GPUs"});
    columns.push_back(
        {"new_count", Unit::count, "Number per step of B: median over the steps of the mean over the GPUs"});
  }
  if (table.group == QuantityGroup::collective) {
    columns.push_back(
        {"measure", Unit::text,
         "time (on the GPU), wait (for the last rank) or transfer (after it), over all such collectives of a step"});
    columns.push_back({"from_bytes", Unit::bytes,
                       "Smallest size in the row; the largest is less than twice as much; empty if unknown"});
  }
  if (table.group == QuantityGroup::operation) {
    columns.push_back(
        {"measure", Unit::text,
         "host (time without nested calls, like cpu_self_ns of operators) or gpu (time of GPU work that it launched itself)"});
  }
  columns.push_back({"name", Unit::text, "Name of the kernel, class, cause or operation"});
  return columns;
}

ResultTable group_table(const GroupTable& entry, const Comparison& comparison, bool all) {
  ResultTable table{entry.name, change_columns(entry), {}, {}};
  std::size_t same = 0;
  for (const Change& change : comparison.group(entry.group)) {
    if (change.word == ChangeWord::same && !all) {
      ++same;
      continue;
    }
    std::vector<Cell>& cells = table.rows.emplace_back();
    append(cells, text_cell(change_text(change.word)), rounded(change.a.median), rounded(change.b.median),
           rounded(change.difference_ns()), change.noise_ns ? rounded(std::ceil(*change.noise_ns)) : Cell(),
           change.a.median > 0 ? Cell(100 * change.difference_ns() / change.a.median) : Cell());
    if (entry.has_counts) append(cells, count_cell(change.count_a), count_cell(change.count_b));
    if (entry.group == QuantityGroup::collective)
      append(cells, change.quantity->measure, known_cell(change.quantity->from_bytes));
    if (entry.group == QuantityGroup::operation) append(cells, change.quantity->measure);
    append(cells, change.quantity->name);
  }
  if (same > 0) table.notes.push_back(count_text(same, "row is", "rows are") + " unchanged");
  return table;
}

// "" if no rank is known.
std::string ranks_text(const RunProfile& run) {
  return run.ranks == std::vector<std::int64_t>{-1} ? "" : rank_list(run.ranks);
}

ResultTable runs_table(const RunProfile& a, const RunProfile& b, const Comparison& comparison) {
  ResultTable table{kRuns,
                    {{"run", Unit::text, "A or B"},
                     {"gpus", Unit::count, "Number of GPUs over which values are means"},
                     {"ranks", Unit::text, "Ranks of these GPUs"},
                     {"steps", Unit::count, "Number of steps over which values are medians; empty for the whole trace"},
                     {"warm_up", Unit::text, "Numbers of the excluded warm-up steps"},
                     {"step_ns", Unit::ns, "Median step time"},
                     {"error_ns", Unit::ns, "Standard error of the median; empty for fewer than 8 steps"},
                     {"source", Unit::text, "Input as named on the command line"}},
                    {},
                    {}};
  const auto add = [&](std::string_view side, const RunProfile& run, const StepSample& step) {
    append(table.rows.emplace_back(), side, run.gpus, text_cell(ranks_text(run)),
           run.whole ? Cell() : cell_of(run.steps.size()), text_cell(number_list(run.warm_up)), rounded(step.median),
           step.has_noise() ? rounded(step.error) : Cell(), run.source);
  };
  add("A", a, comparison.step().a);
  add("B", b, comparison.step().b);
  return table;
}

ResultTable parts_table(const Comparison& comparison, bool all) {
  ResultTable table{
      kParts,
      {{"old_ns", Unit::ns, "Time per step of A: mean over steps and GPUs"},
       {"new_ns", Unit::ns, "Time per step of B: mean over steps and GPUs"},
       {"difference_ns", Unit::ns, "new_ns - old_ns"},
       {"share_pct", Unit::percent, "Share of the difference of the mean step"},
       {"name", Unit::text,
        "Part of the step: compute by class, exposed communication, copies and memsets alone, idle by cause"}},
      {},
      {}};
  std::int64_t whole_a = 0, whole_b = 0;
  std::size_t small = 0;
  for (const PartChange& part : comparison.parts) whole_a += part.a_ns, whole_b += part.b_ns;
  for (const PartChange& part : comparison.parts) {
    const std::int64_t difference = part.b_ns - part.a_ns;
    if (!all && static_cast<double>(std::abs(difference)) < comparison.least_ns) {
      ++small;
      continue;
    }
    append(table.rows.emplace_back(), part.a_ns, part.b_ns, difference,
           whole_a != whole_b ? Cell(100.0 * static_cast<double>(difference) / static_cast<double>(whole_b - whole_a))
                              : Cell(),
           part.name);
  }
  table.notes.push_back(fmt::format("{}the mean step takes {} in A and {} in B, the sum of all parts",
                                    small > 0 ? count_text(small, "small row is", "small rows are") + " skipped; " : "",
                                    duration_text(whole_a), duration_text(whole_b)));
  return table;
}

std::string kernel_names(const std::vector<SequenceKernel>& kernels, const RunProfile& run, bool with_grid) {
  constexpr std::size_t kMost = 8;
  std::string out;
  for (std::size_t i = 0; i < std::min(kMost, kernels.size()); ++i) {
    out += (out.empty() ? "" : "; ") + short_name(run.names[kernels[i].name]);
    if (with_grid) out += fmt::format(" {}x{}x{}", kernels[i].grid[0], kernels[i].grid[1], kernels[i].grid[2]);
  }
  return kernels.size() > kMost ? out + "; ..." : out;
}

ResultTable sequence_table(const RunProfile& a, const RunProfile& b) {
  ResultTable table{
      kSequence,
      {{"change", Unit::text, "replaced, removed, added, or grid (the same kernels with other grids)"},
       {"times", Unit::count, "Number of places in the step"},
       {"at_old", Unit::number, "Position of the first of these places among the kernels of the step of A, from 1"},
       {"at_new", Unit::number, "Position of the first of these places among the kernels of the step of B, from 1"},
       {"old_count", Unit::count, "Number of kernels of A that are removed"},
       {"new_count", Unit::count, "Number of kernels of B that replace them"},
       {"old_kernels", Unit::text, "Names of the removed kernels, at most 8"},
       {"new_kernels", Unit::text, "Names of the kernels of B, at most 8"}},
      {},
      {}};
  const auto compared = compare_sequences(a, b);
  if (!compared) return table;
  table.notes.push_back(
      fmt::format("compares {} of step {}{} in A with {} of step {}{} in B, by name and grid, in launch order",
                  count_text(compared->kernels_a, "kernel"), compared->step_a, of_rank(a.sequence_rank),
                  count_text(compared->kernels_b, "kernel"), compared->step_b, of_rank(b.sequence_rank)));
  if (!compared->changes) {
    table.notes.push_back(
        fmt::format("the sequences differ in more than {} places and are not aligned", kMostDifferences));
    return table;
  }
  for (const KernelChange& change : *compared->changes) {
    const std::string_view word = change.grid_alone        ? "grid"
                                  : change.added.empty()   ? "removed"
                                  : change.removed.empty() ? "added"
                                                           : "replaced";
    append(table.rows.emplace_back(), word, change.times, change.at_a + 1, change.at_b + 1, change.removed.size(),
           change.added.size(), kernel_names(change.removed, a, change.grid_alone),
           kernel_names(change.added, b, change.grid_alone));
  }
  return table;
}

std::string signed_duration(std::int64_t ns) { return (ns > 0 ? "+" : "") + duration_text(ns); }

// Returns, for example, "; the mean step changed by -72.7 ms: idle host_late -70.2 ms, ...".
std::string parts_text(const Comparison& comparison) {
  constexpr std::size_t kMost = 3;
  constexpr std::int64_t kLeastShare = 20;
  std::int64_t whole = 0;
  for (const PartChange& part : comparison.parts) whole += part.b_ns - part.a_ns;
  std::string out;
  for (std::size_t i = 0; i < std::min(kMost, comparison.parts.size()); ++i) {
    const PartChange& part = comparison.parts[i];
    const std::int64_t difference = part.b_ns - part.a_ns;
    if (std::abs(difference) < (std::abs(whole) + kLeastShare - 1) / kLeastShare) break;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", part.name, signed_duration(difference));
  }
  return out.empty() ? out : fmt::format("; the mean step changed by {}: {}", signed_duration(whole), out);
}

std::string ratio_text(double a, double b) {
  constexpr double kClearly = 1.05;
  if (a <= 0 || b <= 0) return b > a ? "B takes longer" : "B takes less";
  if (a / b >= kClearly) return fmt::format("B is {:.2f} times as fast", a / b);
  if (b / a >= kClearly) return fmt::format("B takes {:.2f} times as long", b / a);
  return fmt::format("B takes {:.1f} % {}", 100 * std::abs(b - a) / a, b > a ? "more time" : "less time");
}

std::string run_text(std::string_view side, const RunProfile& run) {
  std::string text = fmt::format("{}: {}{}{}, {}", side, run.source, ranks_text(run).empty() ? "" : ", ",
                                 ranks_text(run), count_text(static_cast<std::uint64_t>(run.gpus), "GPU"));
  if (!run.whole) text += ", " + count_text(run.steps.size(), "step");
  if (!run.warm_up.empty())
    text +=
        fmt::format("; without warm-up {} {}", run.warm_up.size() == 1 ? "step" : "steps", number_list(run.warm_up));
  if (run.not_everywhere > 0)
    text += fmt::format("; without {} missing on some ranks", count_text(run.not_everywhere, "step"));
  for (const std::string& note : run.notes) text += "; " + note;
  return text;
}

std::string method_text(const RunProfile& a, const Comparison& comparison) {
  if (a.whole) return "no steps: comparing totals, without a noise model\n";
  if (comparison.has_noise) return "";
  return fmt::format("fewer than {} steps on a side: {}; showing rows whose values in A and B do not overlap\n",
                     kFewestSteps, comparison.step().noise_ns ? "noise is an upper bound" : "noise is unknown");
}

}  // namespace

const std::vector<std::string_view>& diff_table_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all{kRuns, kGroupTables[0].name, kParts};
    for (std::size_t i = 1; i < kGroupTables.size(); ++i) all.push_back(kGroupTables[i].name);
    all.push_back(kSequence);
    return all;
  }();
  return names;
}

std::vector<ResultTable> diff_tables(const RunProfile& a, const RunProfile& b, const Comparison& comparison, bool all) {
  std::vector<ResultTable> tables{runs_table(a, b, comparison), group_table(kGroupTables[0], comparison, all),
                                  parts_table(comparison, all)};
  for (std::size_t i = 1; i < kGroupTables.size(); ++i) tables.push_back(group_table(kGroupTables[i], comparison, all));
  tables.push_back(sequence_table(a, b));
  return tables;
}

std::string change_summary(std::string_view what, const Change& change) {
  std::string text = fmt::format("{} {} -> {}", what, duration_text(std::llround(change.a.median)),
                                 duration_text(std::llround(change.b.median)));
  if (change.a.median <= 0) return text;
  text += fmt::format(" ({:+.1f} %", 100 * change.difference_ns() / change.a.median);
  if (change.noise_ns) text += fmt::format(" +- {:.1f} %", 100 * *change.noise_ns / change.a.median);
  return text + ")";
}

std::string diff_verdict(const RunProfile& a, const RunProfile& b, const Comparison& comparison) {
  Change step = comparison.step();
  if (!comparison.has_noise) step.noise_ns.reset();
  const std::string summary = change_summary(a.whole ? "the whole trace" : "step", step);
  std::string out;
  if (!comparison.has_noise) {
    const std::string why =
        a.whole ? "no steps to estimate the noise"
                : fmt::format("too few steps to estimate the noise: {} and {}", a.steps.size(), b.steps.size());
    add_line(out, "{}; {}{}", why, summary, parts_text(comparison));
  } else if (step.word == ChangeWord::same) {
    std::size_t changed = 0;
    for (const auto& group : comparison.groups)
      changed += group.size() - static_cast<std::size_t>(std::ranges::count(group, ChangeWord::same, &Change::word));
    add_line(out, "no significant difference: {}{}", summary,
             changed == 0 ? "" : fmt::format("; {} changed", count_text(changed, "component")));
  } else {
    add_line(out, "{}: {}{}", ratio_text(step.a.median, step.b.median), summary, parts_text(comparison));
  }
  add_line(out, run_text("A", a));
  add_line(out, run_text("B", b));
  return out + method_text(a, comparison);
}

std::string diff_text(const std::vector<ResultTable>& tables, const TableFormat& format) {
  std::string unchanged;
  std::vector<ResultTable> changed;
  for (const ResultTable& table : tables) {
    if (table.rows.empty()) {
      unchanged += (unchanged.empty() ? "" : ", ") + std::string(table.name);
    } else {
      changed.push_back(table);
    }
  }
  std::string out;
  if (!changed.empty())
    out += fmt::format("\n{}{}", changed.size() == 1 ? std::string(changed[0].name) + "\n" : std::string(),
                       format.write(changed));
  return unchanged.empty() ? out : out + fmt::format("\nunchanged: {}\n", unchanged);
}

}  // namespace cli::comparison
