// A section of the report's page: a file and a line in section.cpp.
#pragma once
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

// What the sections of a report are made of. It outlives them.
struct ReportFacts {
  const Catalog& catalog;
  const std::vector<ClockFit>& fits;
  std::vector<ResultTable> tables;  // of the analyses that the sections name (section.h)
  std::vector<ResultTable> by_step; // tables temporal, idle and memory by step; empty if there are no steps
  WaitTables waits;
  FlameTree flame;
  rules::Diagnosis diagnosis;
  std::string timeline;             // its section, as markup
  std::string inputs;               // as a shell takes them
  std::string selected;             // the options that choose a part of them, so, too, each behind a blank; ""
  std::vector<bool> chosen;         // by ProcessId: what is not of a rank that --ranks names is not shown
  std::string recorder;             // how the recordings were made, one line for each way; "" if the input has no recording
  std::string clocks;               // how clocks are aligned, in a sentence; "": there is one, or none is known
  std::vector<std::string> notes;   // what the page does not hold; a sentence each
};

struct SectionEntry {
  std::string_view id, title;
  std::vector<std::string_view> tables;  // of analyses, that it shows
  void (*write)(const ReportFacts& facts, Html& page);  // what stands under the title
  bool (*applies)(const ReportFacts& facts) = nullptr;  // null: always; else the page has no such section where it does not
};

// In the order of the page.
const std::vector<SectionEntry>& sections();

// Returns whether there is GPU work in the chosen time.
bool has_gpu_time(const ReportFacts& facts);

// Returns whether there are operators with known sizes and a GPU with known peaks.
bool has_roofline(const ReportFacts& facts);

}  // namespace cli::report
