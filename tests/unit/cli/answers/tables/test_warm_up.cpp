#include "cli/answers/tables/whole_steps.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

std::size_t warm_up_of(const std::vector<std::int64_t>& lengths) {
  std::vector<Step> steps;
  for (const std::int64_t length : lengths) steps.push_back({0, 0, length});
  return warm_up_steps(steps);
}

}  // namespace

TEST_CASE("warm-up: the first steps that are far longer than the median") {
  CHECK(warm_up_of({300, 150, 100, 101, 99, 100, 300}) == 2);
  CHECK(warm_up_of({10, 300, 150, 100, 101, 99, 100, 100}) == 3);  // the first one is known from its first launch on
  CHECK(warm_up_of({10, 100, 101, 99, 100}) == 0);
  CHECK(warm_up_of({105, 100, 100, 100, 100}) == 0);     // not by a tenth
  CHECK(warm_up_of({130, 80, 120, 100, 70, 110}) == 0);  // they all differ
  CHECK(warm_up_of({300, 100, 100}) == 0);
  CHECK(warm_up_of({}) == 0);
}
