#include "cli/commands/trace_facts.h"

#include <algorithm>
#include <utility>

#include "cli/io/progress.h"
#include "cli/overlay/lost_rows.h"
#include "cli/select/step_finder.h"

namespace cli {

namespace {

std::vector<ProcessSteps> find_steps(OrderedTrace& trace) {
  std::vector<ProcessSteps> known = trace.steps();
  if (!known.empty()) return known;
  Progress progress("looking for steps");
  StepFinder finder(trace.catalog());
  trace.walk(finder);
  return finder.take();
}

class Survey : public EventSink {
 public:
  explicit Survey(Selector& selector) : selector_(selector) {}
  void event(const Event& event, const Facts&) override {
    selector_.survey(event);
    progress_.step();
  }

 private:
  Selector& selector_;
  Progress progress_{"choosing"};
};

}  // namespace

FoundFacts find_facts(OrderedTrace& trace) {
  FoundFacts found;
  std::int64_t first_ns = picture_start(trace.catalog()), last_ns = 0;
  for (ProcessSteps& process : find_steps(trace)) {
    found.facts.steps.push_back(std::move(process.steps));
    found.steps_found_by.push_back(std::move(process.found_by));
    if (process.first_ns == 0) continue;
    first_ns = first_ns == 0 ? process.first_ns : std::min(first_ns, process.first_ns);
    last_ns = last_ns == 0 ? process.last_ns : std::max(last_ns, process.last_ns);
  }
  found.facts.first_ns = first_ns, found.facts.last_ns = last_ns;
  return found;
}

void survey(OrderedTrace& trace, Selector& selector, const Wanted& wanted) {
  if (!selector.needs_survey()) return;
  Survey sink(selector);
  trace.walk(sink, wanted);
}

}  // namespace cli
