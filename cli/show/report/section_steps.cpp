// Sections about the whole run: a summary, the lengths of steps, and the time of each rank.
#include <fmt/format.h>

#include <cctype>

#include "cli/answers/tables/summary.h"
#include "cli/base/text.h"
#include "cli/show/report/bar_chart.h"
#include "cli/show/report/section.h"
#include "cli/show/report/step_times.h"
#include "cli/show/report/table_html.h"

namespace cli::report {

// The lengths of steps.

namespace {

bool has_steps(const ReportFacts& facts) { return find_table(facts, "steps") != nullptr; }

void write_steps(const ReportFacts& facts, Html& page) {
  const ResultTable steps = step_times(facts.tables);
  if (steps.rows.size() > 1) write_step_chart(page, steps);
  write_step_heat(page, facts);
  write_folded_table(page, steps, facts, "each step over its ranks", {.source = "steps"});
  write_folded_table(page, *find_table(facts, "steps"), facts, "each step of each rank");
}

}  // namespace

SectionEntry steps_section() { return {"steps", "Step times", {"steps"}, write_steps, has_steps}; }

// The time of each rank by activity.

namespace {

void write_time(const ReportFacts& facts, Html& page) {
  const TableReading gpus(facts.tables, "temporal");
  const auto parts_of = [&](std::size_t row) {
    const std::int64_t compute = gpus.number(row, "compute_ns"), exposed = gpus.number(row, "exposed_comm_ns");
    const std::int64_t alone = gpus.number(row, "busy_ns") - compute - exposed;
    return std::vector<double>{static_cast<double>(compute), static_cast<double>(exposed), static_cast<double>(alone),
                               static_cast<double>(gpus.number(row, "idle_ns"))};
  };
  BarChart chart;
  chart.title = "Time of each GPU";
  chart.description = fmt::format("Time of {}: compute, exposed communication, copies and memsets alone, and idle.",
                                  count_text(gpus.rows(), "GPU"));
  chart.note = grouping_text(gpus.rows());
  chart.quantity = "time";
  chart.parts = {
      BarPart(Fill::compute), BarPart(Fill::exposed), {"copies and memsets alone", Fill::memory}, BarPart(Fill::idle)};
  chart.bars = gpu_bars(gpus, parts_of);
  write_bars(page, chart);
  write_folded_table(page, gpus.table(), facts, "time of each GPU");
}

}  // namespace

bool has_gpu_time(const ReportFacts& facts) { return TableReading(facts.tables, "temporal").sum("span_ns") > 0; }

SectionEntry time_per_rank_section() { return {"time", "Time per rank", {"temporal"}, write_time, has_gpu_time}; }

// A summary in three sentences.

namespace {

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

SectionEntry summary_section() { return {"summary", "Summary", {"temporal", "steps", "stragglers"}, write_summary}; }

}  // namespace cli::report
