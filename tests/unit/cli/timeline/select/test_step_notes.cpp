#include "cli/timeline/select/step_name.h"
#include "tests/unit/catch.h"

using namespace cli;

TEST_CASE("step notes: what is said of some ranks names them, unless it is said of all that were chosen") {
  Catalog catalog;
  std::vector<ProcessSteps> steps(3);
  for (int rank = 0; rank < 3; ++rank) {
    Process process;
    process.rank = rank;
    catalog.add_process(process);
  }
  for (const int named : {0, 1}) {
    steps[static_cast<std::size_t>(named)].found_by = "ProfilerStep#N";
    steps[static_cast<std::size_t>(named)].steps = {{0, 0, 10}};
  }
  const auto notes = step_notes(steps, catalog, {true, true, true}, false);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].starts_with("rank 2: no training steps were found"));
  const auto of_one = step_notes(steps, catalog, {false, false, true}, false);
  REQUIRE(of_one.size() == 1);
  CHECK(of_one[0].starts_with("no training steps were found"));
}
