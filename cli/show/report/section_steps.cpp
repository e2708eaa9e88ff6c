// The lengths of steps, and a summary of the run.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>

#include "cli/answers/tables/percentile.h"
#include "cli/answers/tables/summary.h"
#include "cli/base/text.h"
#include "cli/show/report/bar_chart.h"
#include "cli/show/report/chart.h"
#include "cli/show/report/step_times.h"
#include "cli/show/report/table_html.h"

namespace cli::report {

namespace {

struct StepOfRanks {
  std::vector<std::int64_t> lengths_ns;
  std::int64_t longest_ns = -1;
  Cell longest_rank;
  bool warm_up = false;
};

std::vector<Column> step_time_columns() {
  return {{"step", Unit::number, "Number of the training step"},
          {"ranks", Unit::count, "Number of ranks with a known duration of the step"},
          {"shortest_ns", Unit::ns, "Shortest duration on any rank"},
          {"median_ns", Unit::ns, "Median duration over the ranks"},
          {"longest_ns", Unit::ns, "Longest duration on any rank"},
          {"longest_rank", Unit::number, "Rank with the longest duration"},
          {"warm_up", Unit::yes_no, "Whether it is a warm-up step on any rank"}};
}

constexpr std::size_t kMostHeatFields = 2400, kMostHeatColumns = 120;
constexpr double kLeastScale = 0.05;  // differences below 5 % stay pale
constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

struct HeatStep {
  std::int64_t first = 0, last = 0;  // the steps in this column
};

std::string percent_text(double share) {
  const double tenths = std::round(1000 * share);
  return tenths == 0 ? "0.0 %" : fmt::format("{:+.1f} %", tenths / 10);
}

// Returns one row per rank: the length of each step relative to the median over the ranks. A column for several steps
// has their mean.
std::vector<Bar> deviations_of(const TableReading& rows, const std::map<std::int64_t, std::int64_t>& medians_ns,
                               std::size_t each, std::size_t columns) {
  std::map<std::int64_t, std::size_t> places;
  for (const auto& [number, median_ns] : medians_ns) places.try_emplace(number, places.size());
  std::vector<Bar> bars;
  std::map<std::string, std::size_t> bar_of;
  std::vector<std::vector<std::size_t>> counts;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    const auto number = rows.get<std::int64_t>(row, "step"), ns = rows.get<std::int64_t>(row, "duration_ns");
    if (!number || !ns || medians_ns.at(*number) <= 0) continue;
    const auto phase = rows.get<std::string>(row, "phase");
    const std::string label = rows.rank(row) + (phase ? " " + *phase : "");
    const auto [at, is_new] = bar_of.try_emplace(label, bars.size());
    if (is_new) {
      bars.push_back({label, std::vector<double>(columns), rows.get<std::int64_t>(row, "rank").value_or(-1)});
      counts.emplace_back(columns);
    }
    const std::size_t column = places.at(*number) / each;
    bars[at->second].values[column] += static_cast<double>(*ns) / static_cast<double>(medians_ns.at(*number)) - 1;
    ++counts[at->second][column];
  }
  for (std::size_t bar = 0; bar < bars.size(); ++bar) {
    for (std::size_t i = 0; i < columns; ++i)
      bars[bar].values[i] = counts[bar][i] == 0 ? kNoValue : bars[bar].values[i] / static_cast<double>(counts[bar][i]);
  }
  std::ranges::stable_sort(bars, [](const Bar& a, const Bar& b) { return a.rank < b.rank; });
  return bars;
}

// Writes the heat map of steps by rank: how much longer or shorter each step took than on the other ranks. Writes
// nothing for fewer than two ranks or three steps; a table is enough then.
void write_step_heat(Html& page, const ReportFacts& facts) {
  const ResultTable times = step_times(facts.tables);
  const TableReading steps(times), rows(facts.tables, "steps");
  std::map<std::int64_t, std::int64_t> medians_ns;
  for (std::size_t row = 0; row < steps.rows(); ++row)
    medians_ns[steps.number(row, "step")] = steps.number(row, "median_ns");
  const std::size_t ranks = medians_ns.empty() ? 0 : rows.rows() / medians_ns.size() + 1;
  const std::size_t most = std::clamp<std::size_t>(
      kMostHeatFields / std::min(std::max<std::size_t>(ranks, 1), kMostBars), 1, kMostHeatColumns);
  const std::size_t each = (medians_ns.size() + most - 1) / most,
                    columns = each == 0 ? 0 : (medians_ns.size() + each - 1) / each;
  if (medians_ns.size() < 3) return;
  const std::vector<Bar> all = deviations_of(rows, medians_ns, each, columns);
  if (all.size() < 2) return;
  const std::vector<Bar> bars = grouped(all);
  double scale = kLeastScale;
  for (const Bar& bar : bars) {
    for (const double value : bar.values) scale = std::isnan(value) ? scale : std::max(scale, std::abs(value));
  }
  HeatMap map;
  map.title = "Each step on each rank, relative to the median of the step";
  map.description = fmt::format(
      "Rows are ranks, columns are steps. Red: longer than on the median rank; blue: shorter. The darkest color is {:.1f} %.",
      100 * scale);
  map.columns_are =
      fmt::format("Time of each step on each rank, relative to the step's median over the ranks; darkest at {:.1f} %.",
                  100 * scale);
  auto number = medians_ns.begin();
  for (std::size_t i = 0; i < columns;
       ++i, std::advance(number, std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(each),
                                                          std::distance(number, medians_ns.end()))))
    map.columns.push_back(fmt::format("{}", number->first));
  for (const Bar& bar : bars) {
    HeatRow row{bar.label, {}};
    for (std::size_t i = 0; i < columns; ++i) {
      if (std::isnan(bar.values[i])) {
        row.fields.emplace_back();
      } else {
        row.fields.push_back(HeatField{bar.values[i] / scale, percent_text(bar.values[i]),
                                       fmt::format("{}, {} {}: {}", bar.label, each == 1 ? "step" : "steps from",
                                                   map.columns[i], percent_text(bar.values[i]))});
      }
    }
    map.rows.push_back(std::move(row));
  }
  if (bars.size() < all.size())
    page.element("p", {{"class", "caption"}},
                 "Each row is the mean of neighbouring ranks; the table has each of them.");
  write_heat_map(page, map);
}

// Returns one mark per step, or per group of steps if there are more steps than kMostSpreadMarks.
std::vector<SpreadMark> marks_of(const TableReading& steps) {
  std::vector<SpreadMark> marks;
  const std::size_t each = (steps.rows() + kMostSpreadMarks - 1) / kMostSpreadMarks;
  for (std::size_t from = 0; from < steps.rows(); from += each) {
    const std::size_t to = std::min(steps.rows(), from + each);
    const std::int64_t first = steps.number(from, "step"), last = steps.number(to - 1, "step");
    std::int64_t shortest_ns = steps.number(from, "shortest_ns"), longest_ns = 0;
    std::vector<std::int64_t> medians;
    bool warm_up = false;
    for (std::size_t row = from; row < to; ++row) {
      medians.push_back(steps.number(row, "median_ns"));
      shortest_ns = std::min(shortest_ns, steps.number(row, "shortest_ns"));
      longest_ns = std::max(longest_ns, steps.number(row, "longest_ns"));
      warm_up = warm_up || steps.get<bool>(row, "warm_up").value_or(false);
    }
    const std::int64_t median_ns = median(medians);
    std::string text = fmt::format(
        "{}{}: shortest {}, median {}, longest {}",
        first == last ? fmt::format("step {}", first) : fmt::format("steps {} to {}", first, last),
        warm_up ? " (warm-up)" : "", duration_text(shortest_ns), duration_text(median_ns), duration_text(longest_ns));
    marks.push_back({fmt::format("{}", first), std::move(text), static_cast<double>(shortest_ns),
                     static_cast<double>(median_ns), static_cast<double>(longest_ns), warm_up});
  }
  return marks;
}

// Writes a chart with a line of the medians and the range from shortest to longest. Warm-up steps do not affect its
// scale.
void write_step_chart(Html& page, const ResultTable& steps) {
  write_spread(
      page,
      {"Duration of each training step",
       "Steps from left to right. A dot is the median over the ranks; a bar goes from the shortest to the longest rank. Warm-up steps have hollow dots. A triangle marks a step above the chart.",
       "duration", "step", Unit::ns, marks_of(TableReading(steps))});
}

void write_steps(const ReportFacts& facts, Html& page) {
  const ResultTable steps = step_times(facts.tables);
  if (steps.rows.size() > 1) write_step_chart(page, steps);
  write_step_heat(page, facts);
  write_folded_table(page, steps, facts, "each step over its ranks", {.source = "steps"});
  write_folded_table(page, *find_table(facts, "steps"), facts, "each step of each rank");
}

// A summary in three sentences.

// Begins the sentence with a capital letter.
std::string begun(std::string sentence) {
  if (!sentence.empty()) sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  return sentence;
}

void write_summary(const ReportFacts& facts, Html& page) {
  for (std::string& sentence : summary_sentences(facts.tables))
    page.element("p", {{"class", "sentence"}}, begun(std::move(sentence)));
}

}  // namespace

ResultTable step_times(const std::vector<ResultTable>& tables) {
  const TableReading rows(tables, "steps");
  std::map<std::int64_t, StepOfRanks> steps;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    const auto number = rows.get<std::int64_t>(row, "step"), length_ns = rows.get<std::int64_t>(row, "duration_ns");
    if (!number || !length_ns) continue;
    StepOfRanks& step = steps[*number];
    step.lengths_ns.push_back(*length_ns);
    step.warm_up = step.warm_up || rows.get<bool>(row, "warm_up").value_or(false);
    if (*length_ns <= step.longest_ns) continue;
    step.longest_ns = *length_ns;
    const auto rank = rows.get<std::int64_t>(row, "rank");
    step.longest_rank = rank ? Cell(*rank) : Cell();
  }
  ResultTable table{"step_times", step_time_columns()};
  for (auto& [number, step] : steps) {
    const auto [shortest, longest] = std::minmax_element(step.lengths_ns.begin(), step.lengths_ns.end());
    const std::int64_t shortest_ns = *shortest, longest_ns = *longest;
    table.rows.push_back({number, static_cast<std::int64_t>(step.lengths_ns.size()), shortest_ns,
                          median(step.lengths_ns), longest_ns, step.longest_rank, step.warm_up});
  }
  return table;
}

SectionEntry steps_section() { return {"steps", "Step times", {"steps"}, write_steps, has_rows("steps")}; }

SectionEntry summary_section() { return {"summary", "Summary", {"temporal", "steps", "stragglers"}, write_summary}; }

}  // namespace cli::report
