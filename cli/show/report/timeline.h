// The timeline of a report: one step of a trace, with all slices of some ranks and how busy the other ranks are, as a section of the page.
//
// The section holds its data as JSON, which page/timeline.js draws on a canvas, and a chart for readers without script and for
// paper. Times are exact ns, relative to the start of what is shown; a link "#t=START-END&rank=R" has them relative to the start of the trace.
//
// Memory: 32 bytes for each slice of a rank that is shown whole, of which there are 200,000 at most (timeline_slices.h), and 40 for each
// part of the time of a GPU, of which there are 120,000, or 20 for each GPU.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/answers/tables/analyze.h"

namespace cli::report {

struct TimelineRequest {
  std::optional<std::int64_t> step;  // that is shown; none: of the first shown rank that has whole steps, the one of median length, else the
                                     // first part of the time that is analyzed
  std::vector<std::int64_t> ranks;   // with all slices; of which 16 at most are; none: the first of those that are analyzed; further ones are aggregates
  std::string inputs;                // as words of a command, for those that the page offers
};

// A <section id="timeline">, with no inline style and no inline handler.
struct TimelineSection {
  std::string html;
  std::size_t events = 0;          // that are slices of it
  std::vector<std::string> notes;  // what it does not show; a sentence each
};

// To be in an AnalysisRequest; fills `result` at its finish(). `result` outlives the analysis.
TablesObserverEntry timeline_observer(TimelineRequest request, TimelineSection& result);

}  // namespace cli::report
