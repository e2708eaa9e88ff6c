// The timeline section of a report: one step of a trace, with all slices of some ranks and the GPU usage of the other
// ranks.
//
// The section contains its data as JSON, which page/timeline.js draws on a canvas, and a chart for printing and for
// readers without scripts. Times are exact ns relative to the start of the shown time. In a link,
// "#t=START-END&rank=R", they are relative to the start of the trace.
//
// Memory: 32 bytes per slice of a rank shown in full, at most 200,000 of them (timeline_slices.h), and 40 bytes per
// time interval of a GPU, at most 120,000 of them, or 20 per GPU.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/answers/tables/analyze.h"

namespace cli::report {

struct TimelineRequest {
  // The step to show; if empty, the step of median length of the first shown rank that has whole steps, else the first
  // part of the analyzed time
  std::optional<std::int64_t> step;
  // Ranks shown with all slices, at most 16; if empty, the first analyzed ones. Other ranks are aggregated
  std::vector<std::int64_t> ranks;
  std::string inputs;  // as words of a shell command, for commands on the page
};

// A <section id="timeline"> without inline styles and inline handlers.
struct TimelineSection {
  std::string html;
  std::size_t events = 0;          // number of events that are slices in it
  std::vector<std::string> notes;  // data that is not shown; a sentence each
};

// Returns an observer for an AnalysisRequest. Its finish() sets `result`, which must outlive the analysis.
TablesObserverEntry timeline_observer(TimelineRequest request, TimelineSection& result);

}  // namespace cli::report
