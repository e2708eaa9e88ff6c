// Sections that list a table's largest rows: modules, operators, Python frames, kernels and their classes.
#include "cli/show/report/bar_chart.h"
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"
#include "cli/trace/names.h"
#include "cli/trace/short_name.h"

namespace cli::report {

// Modules by the GPU time of their own operators, if the trace has modules.

namespace {

bool has_modules(const ReportFacts& facts) { return find_table(facts, "modules") != nullptr; }

void write_modules(const ReportFacts& facts, Html& page) {
  write_top_bars(page, facts,
                 {"modules", "module", "gpu_self_ns", "Modules by the GPU time of their own operators",
                  "GPU time without submodules"});
}

}  // namespace

SectionEntry modules_section() { return {"modules", "Modules", {"modules"}, write_modules, has_modules}; }

// Operators by the GPU time that they launched, if the trace has operators.

namespace {

bool has_operators(const ReportFacts& facts) { return find_table(facts, "operators") != nullptr; }

void write_operators(const ReportFacts& facts, Html& page) {
  write_top_bars(page, facts,
                 {"operators", "name", "gpu_self_ns", "Operators by the time of their GPU work",
                  "GPU time without nested operators"});
}

}  // namespace

SectionEntry operators_section() { return {"operators", "Operators", {"operators"}, write_operators, has_operators}; }

// Python frames by the GPU time that they launched, if the trace has stacks.

namespace {

bool has_stacks(const ReportFacts& facts) { return find_table(facts, "stacks") != nullptr; }

void write_stacks(const ReportFacts& facts, Html& page) {
  write_top_bars(page, facts,
                 {"stacks",
                  "frame",
                  "gpu_ns",
                  "Python frames by the time of their GPU work",
                  "GPU time",
                  15,
                  {},
                  [](const std::string& frame) { return label_end(frame, kMostLetters); }});
}

}  // namespace

SectionEntry stacks_section() { return {"stacks", "Stacks", {"stacks"}, write_stacks, has_stacks}; }

// The kernels with the most time.

namespace {

Fill kernel_fill(const TableReading& kernels, std::size_t row) {
  if (kernels.get<std::string>(row, "class") == "comm") return Fill::communication;
  return is_gemm_name(kernels.get<std::string>(row, "name").value_or("")) ? Fill::matmul : Fill::compute;
}

bool has_kernels(const ReportFacts& facts) { return find_table(facts, "kernels") != nullptr; }

void write_kernels(const ReportFacts& facts, Html& page) {
  write_top_bars(page, facts,
                 {"kernels", "name", "sum_ns", "Kernels with the most time", "total duration over all ranks", 15,
                  kernel_fill, [](const std::string& name) { return short_name(name); }});
}

}  // namespace

SectionEntry kernels_section() { return {"kernels", "Top kernels", {"kernels"}, write_kernels, has_kernels}; }

// GPU time by class of work.

namespace {

Fill class_fill(const TableReading& classes, std::size_t row) {
  const auto name = classes.get<std::string>(row, "class");
  if (name == "communication") return Fill::communication;
  if (name == "memory") return Fill::memory;
  return name == "matmul" ? Fill::matmul : Fill::compute;
}

bool has_classes(const ReportFacts& facts) { return find_table(facts, "classes") != nullptr; }

void write_classes(const ReportFacts& facts, Html& page) {
  write_top_bars(
      page, facts,
      {"classes", "class", "sum_ns", "Classes of GPU activity", "total duration over all ranks", 20, class_fill});
}

}  // namespace

SectionEntry classes_section() { return {"classes", "Classes", {"classes"}, write_classes, has_classes}; }

}  // namespace cli::report
