// Python frames by the GPU time that they launched; where the input tells it.
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"
#include "cli/show/report/top_bars.h"

namespace cli {
namespace {

bool has_stacks(const ReportFacts& facts) { return find_table(facts, "stacks") != nullptr; }

void write_stacks(const ReportFacts& facts, Html& page) {
  write_top_bars(page, facts, {"stacks", "frame", "gpu_ns", "Python frames by the time of their GPU work", "GPU time", 15, {}, [](const std::string& frame) { return label_end(frame, kMostLetters); }});
}

}  // namespace

SectionEntry stacks_section() { return {"stacks", "Stacks", {"stacks"}, write_stacks, has_stacks}; }

}  // namespace cli
