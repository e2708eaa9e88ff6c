// Operators by the GPU time that they launched; where the input tells it.
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"
#include "cli/show/report/top_bars.h"

namespace cli {
namespace {

bool has_operators(const ReportFacts& facts) { return find_table(facts, "operators") != nullptr; }

void write_operators(const ReportFacts& facts, Html& page) {
  write_top_bars(page, facts, {"operators", "name", "gpu_self_ns", "Operators by the time of their GPU work", "GPU time without nested operators"});
}

}  // namespace

SectionEntry operators_section() { return {"operators", "Operators", {"operators"}, write_operators, has_operators}; }

}  // namespace cli
