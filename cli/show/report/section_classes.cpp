// What the GPUs' work was for.
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"
#include "cli/show/report/top_bars.h"

namespace cli {
namespace {

Fill class_fill(const TableReading& classes, std::size_t row) {
  const auto name = classes.get<std::string>(row, "class");
  if (name == "communication") return Fill::communication;
  if (name == "memory") return Fill::memory;
  return name == "matmul" ? Fill::matmul : Fill::compute;
}

bool has_classes(const ReportFacts& facts) { return find_table(facts, "classes") != nullptr; }

void write_classes(const ReportFacts& facts, Html& page) {
  write_top_bars(page, facts, {"classes", "class", "sum_ns", "Classes of GPU activity", "total duration over all ranks", 20, class_fill});
}

}  // namespace

SectionEntry classes_section() { return {"classes", "Classes", {"classes"}, write_classes, has_classes}; }

}  // namespace cli
