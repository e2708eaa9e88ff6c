// Runs analyses over a trace in a single walk, or in two walks at once with half of the analyses each.
#pragma once
#include <functional>

#include "cli/answers/tables/analysis.h"
#include "cli/timeline/merge/ordered_trace.h"

namespace cli {

// Observes the trace like an analysis, and then reads the finished tables.
class TablesObserver : public TraceObserver {
 public:
  // Called once after the walk, when all tables are finished.
  virtual void finish(const std::vector<ResultTable>& tables) = 0;
};
struct TablesObserverEntry {
  ObserverNeeds needs;
  // The context must outlive the observer
  std::function<std::unique_ptr<TablesObserver>(const AnalysisContext& context)> make;
};

struct AnalysisRequest {
  std::vector<const AnalysisEntry*> analyses;
  GroupBy by = GroupBy::none;  // applies to analyses that support it
  // From --classes; must outlive the analysis; its class `communication` applies to all requests of a walk
  const NameRules* class_rules = nullptr;
  double flops_per_step = 0;                        // see AnalysisContext
  const OwnPeaks* own_peaks = nullptr;              // see AnalysisContext; must outlive the analysis
  Selection selection;                              // steps and time; events count as far as they lie in them
  std::vector<TablesObserverEntry> observers = {};  // their windows are those of GroupBy::none
};

struct AnalysisResult {
  std::vector<ResultTable> tables;  // in the order of the request
  std::vector<std::string> notes;   // data missing from the numbers; a line each
  // Many launches have no GPU work in the trace, so a GPU that looks idle may have been busy
  bool lacks_work = false;
};

// Returns the events that these analyses, the kinds `also` and the search for steps need, so that only these are read.
// Make a new one for each trace.
EventChoice analyzed_events(const std::vector<const AnalysisEntry*>& analyses, KindSet also = {});

// `facts` are those of the trace; `found` is by ProcessId, from StepFinder. Throws Error (usage) if the selection
// matches nothing. Memory: that of the analyses.
AnalysisResult analyze(OrderedTrace& trace, const TraceFacts& facts, const std::vector<ProcessSteps>& found,
                       const AnalysisRequest& request);

// Runs all requests (at least one) in the same walk and returns the results in their order. Each result is the same as
// from analyze(). The requests must choose the same ranks and kinds; steps and times may differ.
std::vector<AnalysisResult> analyze_each(OrderedTrace& trace, const TraceFacts& facts,
                                         const std::vector<ProcessSteps>& found,
                                         const std::vector<AnalysisRequest>& requests);

}  // namespace cli
