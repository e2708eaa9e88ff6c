// A section of the report page. Each is a file and a line in section.cpp.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/rules/diagnose.h"
#include "cli/answers/tables/analysis_table.h"
#include "cli/show/report/flame.h"
#include "cli/show/report/html.h"
#include "cli/show/report/waits.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"

namespace cli::report {

// The data for the sections of a report. It outlives them.
struct ReportFacts {
  const Catalog& catalog;
  const std::vector<ClockFit>& fits;
  std::vector<ResultTable> tables;   // of the analyses that the sections request
  std::vector<ResultTable> by_step;  // tables temporal, idle and memory by step; empty if there are no steps
  WaitTables waits;
  FlameTree flame;
  rules::Diagnosis diagnosis;
  std::string timeline;  // markup of the timeline section
  std::string inputs;    // as words of a shell command
  // Options that select a part of the inputs, in the same form, each preceded by a blank; or ""
  std::string selected;
  // By ProcessId; false for processes of ranks excluded by --ranks, which are not shown
  std::vector<bool> chosen;
  // How recordings were made, one line per configuration; "" if the input has no recording
  std::string recorder;
  // How clocks are aligned, in a sentence; "" if there is only one clock or none is known
  std::string clocks;
  std::vector<std::string> notes;  // data missing from the page; a sentence each
};

struct SectionEntry {
  std::string_view id, title;
  std::vector<std::string_view> tables;                             // tables of analyses that it shows
  std::function<void(const ReportFacts& facts, Html& page)> write;  // writes the content below the title
  // If it returns false, the page omits the section; null for always
  std::function<bool(const ReportFacts& facts)> applies = nullptr;
};

// In page order.
const std::vector<SectionEntry>& sections();

// Returns true if there is GPU work in the chosen time.
bool has_gpu_time(const ReportFacts& facts);

// Returns true if there are operators with known sizes and a GPU with known peaks.
bool has_roofline(const ReportFacts& facts);

}  // namespace cli::report
