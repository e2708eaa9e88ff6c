// Which kernels took most time.
#include "cli/trace/name_classes.h"
#include "cli/trace/short_name.h"
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"
#include "cli/show/report/top_bars.h"

namespace cli {
namespace {

Fill kernel_fill(const TableReading& kernels, std::size_t row) {
  if (kernels.get<std::string>(row, "class") == "comm") return Fill::communication;
  return is_gemm_name(kernels.get<std::string>(row, "name").value_or("")) ? Fill::matmul : Fill::compute;
}

bool has_kernels(const ReportFacts& facts) { return find_table(facts, "kernels") != nullptr; }

void write_kernels(const ReportFacts& facts, Html& page) {
  write_top_bars(page, facts, {"kernels", "name", "sum_ns", "Kernels with the most time", "total duration over all ranks", 15, kernel_fill, [](const std::string& name) { return short_name(name); }});
}

}  // namespace

SectionEntry kernels_section() { return {"kernels", "Top kernels", {"kernels"}, write_kernels, has_kernels}; }

}  // namespace cli
