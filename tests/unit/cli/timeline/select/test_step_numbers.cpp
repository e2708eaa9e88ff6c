#include "cli/timeline/select/step_numbers.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

ProcessSteps counted(std::int64_t from_ns, std::int64_t length_ns, std::int64_t count) {
  ProcessSteps steps;
  for (std::int64_t i = 0; i < count; ++i)
    steps.steps.push_back({i, from_ns + i * length_ns, from_ns + (i + 1) * length_ns});
  steps.found_by = kPeriodOfKernels;
  return steps;
}

}  // namespace

TEST_CASE("step numbers: of what runs at the same time, on one axis; others, and those of programs, stay") {
  Catalog catalog;
  for (int i = 0; i < 5; ++i) catalog.add_process({});
  catalog.processes[1].clock = 0;
  catalog.processes[3].run_id = "named";
  catalog.processes[4].run_id = "another";
  ClockFit fit;
  fit.offset_ns = -1'000'000;
  const std::vector<ClockFit> fits{fit};
  std::vector<ProcessSteps> steps{counted(300, 100, 5), counted(1'000'010, 100, 7), counted(90'000, 100, 2),
                                  counted(100, 100, 3), counted(350, 100, 2)};
  steps[3].found_by = "step N";  // its program numbered them
  number_alike(steps, catalog, ProcessClocks(catalog, fits));
  CHECK((steps[1].steps[0].number == 0 && steps[1].alike));
  CHECK((steps[0].steps[0].number == 3 && steps[0].steps[4].number == 7 && steps[0].alike));
  CHECK((steps[2].steps[0].number == 0 && !steps[2].alike));
  CHECK((steps[3].steps[0].number == 0 && !steps[3].alike));
  CHECK((steps[4].steps[0].number == 0 && steps[4].alike));
}

TEST_CASE("step numbers: of a run that names steps on some ranks, those of the others are its numbers") {
  Catalog catalog;
  for (int i = 0; i < 4; ++i) catalog.add_process({});
  std::vector<ProcessSteps> steps{counted(1000, 100, 9), counted(1230, 100, 5), counted(90'000, 100, 2),
                                  counted(1010, 200, 4)};
  steps[0].found_by = "step N";
  for (Step& step : steps[0].steps) step.number += 7;
  number_alike(steps, catalog, ProcessClocks(catalog, {}));
  CHECK((steps[0].steps[0].number == 7 && steps[0].steps[8].number == 15));
  CHECK((steps[1].steps[0].number == 9 && steps[1].steps[4].number == 13 && steps[1].alike));
  CHECK((steps[2].steps[0].number == 0 && !steps[2].alike));
  CHECK((steps[3].steps[0].number == 0 && steps[3].steps[3].number == 3 &&
         !steps[3].alike));  // two of the others in each
}
