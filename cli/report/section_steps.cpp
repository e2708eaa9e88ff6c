// How long the steps took.
#include "cli/report/section.h"
#include "cli/report/step_times.h"
#include "cli/report/table_html.h"

namespace cli {
namespace {

void write_steps(const ReportFacts& facts, Html& page) {
  const ResultTable* const all = find_table(facts, "steps");
  if (all == nullptr) return write_paragraph(page, "No training steps were found.");
  const ResultTable steps = step_times(facts.tables);
  write_step_chart(page, steps);
  write_folded_table(page, steps, facts, "each step over its ranks", {.source = "steps"});
  write_folded_table(page, *all, facts, "each step of each rank");
}

}  // namespace

SectionEntry steps_section() { return {"steps", "Step times", {"steps"}, write_steps}; }

}  // namespace cli
