// Creates a report: one self-contained HTML page with tables, charts, findings and a timeline.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "cli/answers/tables/analyze.h"
#include "cli/show/report/timeline.h"

namespace cli::report {

struct ReportRequest {
  std::string title;             // of the page
  std::string inputs;            // as words of a shell command, for commands on the page
  std::string selected;          // the options of `selection`; see ReportFacts
  std::string recorder, clocks;  // see ReportFacts
  Selection selection;           // ranks; if steps or times are chosen, tables and findings cover only these
  TimelineRequest timeline;
  const NameRules* class_rules = nullptr;  // see AnalysisRequest
  const OwnPeaks* own_peaks = nullptr;     // see AnalysisRequest
};

struct Report {
  std::string html;
  std::size_t findings = 0;
  std::vector<std::string> notes;  // data missing from the page, which also contains them; a sentence each
};

// Returns the events that a report needs. Make a new one for each trace.
EventChoice reported_events();

// Creates tables like analyze() and findings like diagnose() in one walk, and throws the same errors.
Report make_report(OrderedTrace& trace, const TraceFacts& facts, const std::vector<ProcessSteps>& found,
                   const ReportRequest& request);

}  // namespace cli::report
