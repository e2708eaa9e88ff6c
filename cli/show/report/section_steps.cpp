// How long the steps took.
#include "cli/show/report/section.h"
#include "cli/show/report/step_heat.h"
#include "cli/show/report/step_times.h"
#include "cli/show/report/table_html.h"

namespace cli {
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

}  // namespace cli
