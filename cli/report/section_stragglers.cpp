// Who waits for whom.
#include "cli/report/section.h"
#include "cli/report/table_html.h"
#include "cli/report/waits.h"

namespace cli {
namespace {

void write_stragglers(const ReportFacts& facts, Html& page) {
  const ResultTable* const table = find_table(facts, "stragglers");
  if (facts.waits.rows.empty()) {
    write_paragraph(page, "No collective is known of which all ranks are in the trace: it cannot be said who waits for whom.");
  } else {
    write_wait_matrix(page, facts.waits);
    write_folded_table(page, facts.waits, facts, "waits of each rank in each communicator", {.source = "collectives"});
  }
  if (table != nullptr) write_folded_table(page, *table, facts, "how late each rank is, and why");
}

}  // namespace

SectionEntry stragglers_section() { return {"stragglers", "Stragglers", {"stragglers"}, write_stragglers}; }

}  // namespace cli
