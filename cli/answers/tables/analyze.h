// Runs analyses over a trace, all in one walk, or in two at once, each for half of them.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/answers/tables/analysis.h"
#include "cli/timeline/merge/ordered_trace.h"
#include "cli/timeline/select/selector.h"

namespace cli {

// Looks at the trace as the analyses do, and then at their tables.
class TablesObserver : public TraceObserver {
 public:
  // After the walk, once, when all tables are made.
  virtual void finish(const std::vector<ResultTable>& tables) = 0;
};
struct TablesObserverEntry {
  ObserverNeeds needs;
  std::function<std::unique_ptr<TablesObserver>(const AnalysisContext& context)> make;  // the context outlives it
};

struct AnalysisRequest {
  std::vector<const AnalysisEntry*> analyses;
  GroupBy by = GroupBy::none;  // of those that can; the others as they are
  const NameRules* class_rules = nullptr;  // of --classes; it outlives the analysis; its class `communication` counts for all requests of a walk
  double flops_per_step = 0;   // AnalysisContext
  const OwnPeaks* own_peaks = nullptr;  // AnalysisContext; it outlives the analysis
  Selection selection;         // of steps and time, what runs in them counts as far as it does
  std::vector<TablesObserverEntry> observers = {};  // with windows as of GroupBy::none
};

struct AnalysisResult {
  std::vector<ResultTable> tables;  // in the order of the request
  std::vector<std::string> notes;   // what the numbers do not hold; a line each
  bool lacks_work = false;          // many launches have no GPU work in the trace: a GPU that looks idle may have been busy
};

// What these analyses (and events of the kinds `also`) and the search for steps look at: to read a trace for them alone. One for each trace.
EventChoice analyzed_events(const std::vector<const AnalysisEntry*>& analyses, KindSet also = {});

// `facts` are of the trace; `found` by ProcessId, as StepFinder says it. Throws Error (usage) when the selection matches
// nothing. Memory: that of the analyses.
AnalysisResult analyze(OrderedTrace& trace, const TraceFacts& facts, const std::vector<ProcessSteps>& found,
                       const AnalysisRequest& request);

// Each of them, one at least, as if it were alone, all in the same walk. They choose the same ranks and kinds; steps and times may differ.
// Results in the order of the requests.
std::vector<AnalysisResult> analyze_each(OrderedTrace& trace, const TraceFacts& facts, const std::vector<ProcessSteps>& found,
                                         const std::vector<AnalysisRequest>& requests);

}  // namespace cli
