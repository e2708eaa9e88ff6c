// Sections that list a table's largest rows: modules, operators, Python frames, kernels and their classes.
#include "cli/show/report/bar_chart.h"
#include "cli/show/report/table_html.h"
#include "cli/trace/names.h"
#include "cli/trace/short_name.h"

namespace cli::report {

namespace {

// Returns a section that shows one table, which gives it its id. The page omits it if the table has no rows.
SectionEntry top_section(std::string_view title, const TopBars& what) {
  const auto write = [what](const ReportFacts& facts, Html& page) { write_top_bars(page, facts, what); };
  return {what.table, title, {what.table}, write, has_rows(what.table)};
}

Fill kernel_fill(const TableReading& kernels, std::size_t row) {
  if (kernels.get<std::string>(row, "class") == "comm") return Fill::communication;
  return is_gemm_name(kernels.get<std::string>(row, "name").value_or("")) ? Fill::matmul : Fill::compute;
}

Fill class_fill(const TableReading& classes, std::size_t row) {
  const auto name = classes.get<std::string>(row, "class");
  if (name == "communication") return Fill::communication;
  if (name == "memory") return Fill::memory;
  return name == "matmul" ? Fill::matmul : Fill::compute;
}

}  // namespace

SectionEntry modules_section() {
  return top_section("Modules", {"modules", "module", "gpu_self_ns", "Modules by the GPU time of their own operators",
                                 "GPU time without submodules"});
}

SectionEntry operators_section() {
  return top_section("Operators", {"operators", "name", "gpu_self_ns", "Operators by the time of their GPU work",
                                   "GPU time without nested operators"});
}

SectionEntry stacks_section() {
  return top_section("Stacks", {.table = "stacks",
                                .label_key = "frame",
                                .value_key = "gpu_ns",
                                .title = "Python frames by the time of their GPU work",
                                .quantity = "GPU time",
                                .label = [](const std::string& frame) { return label_end(frame, kMostLetters); }});
}

SectionEntry kernels_section() {
  return top_section("Top kernels",
                     {"kernels", "name", "sum_ns", "Kernels with the most time", "total duration over all ranks", 15,
                      kernel_fill, [](const std::string& name) { return short_name(name); }});
}

SectionEntry classes_section() {
  return top_section("Classes", {"classes", "class", "sum_ns", "Classes of GPU activity",
                                 "total duration over all ranks", 20, class_fill});
}

}  // namespace cli::report
