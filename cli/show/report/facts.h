// What the sections of a report are made of. It outlives them.
#pragma once
#include <string>
#include <vector>

#include "cli/answers/tables/analysis_table.h"
#include "cli/answers/rules/diagnose.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clock_fit.h"
#include "cli/show/report/flame.h"
#include "cli/show/report/waits.h"

namespace cli {

struct ReportFacts {
  const Catalog& catalog;
  const std::vector<ClockFit>& fits;
  std::vector<ResultTable> tables;  // of the analyses that the sections name (section.h)
  std::vector<ResultTable> by_step; // tables temporal, idle and memory by step; empty if there are no steps
  WaitTables waits;
  FlameTree flame;
  Diagnosis diagnosis;
  std::string timeline;             // its section, as markup
  std::string inputs;               // as a shell takes them
  std::string selected;             // the options that choose a part of them, so, too, each behind a blank; ""
  std::vector<bool> chosen;         // by ProcessId: what is not of a rank that --ranks names is not shown
  std::string recorder;             // how the recordings were made, one line for each way; "" if the input has no recording
  std::string clocks;               // how clocks are aligned, in a sentence; "": there is one, or none is known
  std::vector<std::string> notes;   // what the page does not hold; a sentence each
};

}  // namespace cli
