// What has to be known of a trace before a part of it can be chosen.
#pragma once
#include <vector>

#include "cli/timeline/merge/ordered_trace.h"
#include "cli/trace/steps.h"
#include "cli/timeline/select/selector.h"

namespace cli {

struct FoundFacts {
  TraceFacts facts;
  std::vector<ProcessSteps> steps_found;  // by ProcessId, by each process's own clock; `facts` has the same steps
  bool walked = false;                    // the trace, all of it
};

// Walks the trace, unless it is a file that says it. It begins with what was lost before the first event, where the time of that is known.
// `also` gets all events where there is a walk (FoundFacts::walked), and none where there is not.
FoundFacts find_facts(OrderedTrace& trace, EventSink* also = nullptr);

// What the selector has to see before it judges; nothing where it needs no survey.
void survey(OrderedTrace& trace, Selector& selector, const Wanted& wanted);

}  // namespace cli
