#include <cstdint>
#include <vector>

#include "cli/answers/tables/percentile.h"
#include "tests/unit/catch.h"

using namespace cli;

TEST_CASE("standard deviation: of a sample, whatever the values are added to, and unknown for fewer than two") {
  CHECK_FALSE(standard_deviation({}));
  CHECK_FALSE(standard_deviation({7}));
  CHECK(standard_deviation({7, 7, 7}) == 0.0);
  CHECK(standard_deviation({1, 2, 3}) == 1.0);
  CHECK(*standard_deviation({2'971'823, 333'015'608}) ==
        Approx(233'376'198.5).epsilon(1e-9));  // as nsys prints it of two calls
  constexpr std::int64_t kFar = 4'000'000'000'000'000'000;
  CHECK(standard_deviation({kFar + 1, kFar + 2, kFar + 3}) == 1.0);
  CHECK(standard_deviation({-kFar - 1, -kFar - 2, -kFar - 3}) == 1.0);
  CHECK(*standard_deviation({-kFar, kFar}) == Approx(5.656854249492380e18).epsilon(1e-12));
  const std::vector<std::int64_t> many(100'000, kFar);
  CHECK(standard_deviation(many) == 0.0);
}
