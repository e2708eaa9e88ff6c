#include "cli/commands/trace_facts.h"

#include <algorithm>

#include "cli/io/progress.h"
#include "cli/overlay/lost_rows.h"
#include "cli/select/step_finder.h"

namespace cli {

FoundFacts find_facts(OrderedTrace& trace) {
  Progress progress("looking for steps");
  StepFinder finder(trace.catalog());
  trace.walk(finder);
  const std::int64_t losses_ns = picture_start(trace.catalog());
  const bool has_events = finder.first_ns() != 0;
  const std::int64_t first_ns = losses_ns == 0 ? finder.first_ns()
                                : has_events   ? std::min(finder.first_ns(), losses_ns)
                                               : losses_ns;
  FoundFacts found;
  found.steps_found_by = finder.found_by();
  found.facts = {finder.take(), first_ns, finder.last_ns()};
  return found;
}

}  // namespace cli
