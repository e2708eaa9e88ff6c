// Modules by the GPU time of their own operators; where the input tells it.
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"
#include "cli/show/report/top_bars.h"

namespace cli {
namespace {

bool has_modules(const ReportFacts& facts) { return find_table(facts, "modules") != nullptr; }

void write_modules(const ReportFacts& facts, Html& page) {
  write_top_bars(page, facts, {"modules", "module", "gpu_self_ns", "Modules by the GPU time of their own operators", "GPU time without submodules"});
}

}  // namespace

SectionEntry modules_section() { return {"modules", "Modules", {"modules"}, write_modules, has_modules}; }

}  // namespace cli
