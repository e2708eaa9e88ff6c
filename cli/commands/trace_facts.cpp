#include "cli/commands/trace_facts.h"

#include <algorithm>
#include <utility>

#include "cli/base/progress.h"
#include "cli/answers/derived/lost_slices.h"
#include "cli/timeline/select/step_finder.h"
#include "cli/timeline/select/step_numbers.h"

namespace cli {

namespace {

class Both : public EventSink {
 public:
  Both(EventSink& first, EventSink& second) : first_(first), second_(second) {}
  void event(const Event& event, const Facts& facts) override {
    first_.event(event, facts);
    second_.event(event, facts);
  }

 private:
  EventSink &first_, &second_;
};

std::vector<ProcessSteps> find_steps(OrderedTrace& trace, const ProcessClocks& clocks, EventSink* also) {
  Progress progress("finding steps");
  StepFinder finder(trace.catalog(), clocks);
  if (also == nullptr) {
    trace.walk(finder);
  } else {
    Both both(finder, *also);
    trace.walk(both);
  }
  std::vector<ProcessSteps> found = finder.take();
  number_alike(found, trace.catalog(), clocks);
  return found;
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

FoundFacts find_facts(OrderedTrace& trace, EventSink* also) {
  FoundFacts found;
  if (trace.has_own_times()) found.facts.clocks = ProcessClocks(trace.catalog(), trace.fits());
  const ProcessClocks& clocks = found.facts.clocks;
  std::int64_t first_ns = picture_start(trace.catalog()), last_ns = 0;
  found.steps_found = trace.steps();
  found.walked = found.steps_found.empty();
  if (found.walked) found.steps_found = find_steps(trace, clocks, also);
  for (const ProcessSteps& process : found.steps_found) {
    const std::size_t id = found.facts.steps.size();
    found.facts.steps.push_back(process.steps);
    if (process.first_ns == 0) continue;
    const std::int64_t begun_ns = clocks.on_axis(id, process.first_ns), ended_ns = clocks.on_axis(id, process.last_ns);
    first_ns = first_ns == 0 ? begun_ns : std::min(first_ns, begun_ns);
    last_ns = last_ns == 0 ? ended_ns : std::max(last_ns, ended_ns);
  }
  found.facts.first_ns = first_ns;
  found.facts.last_ns = last_ns;
  return found;
}

void survey(OrderedTrace& trace, Selector& selector, const Wanted& wanted) {
  if (!selector.needs_survey()) return;
  Survey sink(selector);
  trace.walk(sink, wanted);
}

}  // namespace cli
