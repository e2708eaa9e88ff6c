// A trace as one page of HTML that needs nothing beside itself: tables, pictures of them, findings, and a timeline.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "cli/answers/tables/analyze.h"
#include "cli/show/report/timeline.h"

namespace cli::report {

struct ReportRequest {
  std::string title;        // of the page
  std::string inputs;       // as a shell takes them, for commands that the page names
  std::string selected;     // the options of `selection`: ReportFacts
  std::string recorder, clocks;  // ReportFacts
  Selection selection;      // ranks; of steps or time, tables and findings are of these alone
  TimelineRequest timeline;
  const NameRules* class_rules = nullptr;  // AnalysisRequest
  const OwnPeaks* own_peaks = nullptr;     // AnalysisRequest
};

struct Report {
  std::string html;
  std::size_t findings = 0;
  std::vector<std::string> notes;  // what it does not hold; a sentence each, which the page has, too
};

// To read a trace for a report alone. One for each trace.
EventChoice reported_events();

// Tables as analyze() makes them, findings as diagnose() does, all read together; throws as they do.
Report make_report(OrderedTrace& trace, const TraceFacts& facts, const std::vector<ProcessSteps>& found, const ReportRequest& request);

}  // namespace cli::report
