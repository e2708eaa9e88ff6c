#include <cmath>
#include <random>

#include "cli/timeline/clocks/line_fit.h"
#include "tests/case_step.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

// Delays, as ends have: 10 us in the mean, each 5 ms; then beside them what `add` says of a time.
template <typename F>
std::vector<LinePoint> series(std::size_t count, std::uint64_t seed, F&& add) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<> delay(1e-4);
  std::vector<LinePoint> points;
  for (std::size_t i = 0; i < count; ++i) {
    const double at = static_cast<double>(i) * 5e6;
    points.push_back({at, 30e-6 * at + delay(random) - delay(random) + add(at)});
  }
  return points;
}

}  // namespace

TEST_CASE("breaks: none in a line, however many points and however few", "[slow]") {
  for (const std::size_t count : {0u, 1u, 5u, 30u, 76u, 500u, 5000u}) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed)
      CHECK(find_breaks(series(count, seed, [](double) { return 0; })).empty());
  }
}

TEST_CASE("breaks: a step is found where it is, a bend about there, several of them each", "[slow]") {
  for (std::uint64_t seed = 1; seed <= few(20); ++seed) {
    const auto step = find_breaks(series(600, seed, [](double at) { return at < 777.5e6 ? 0.0 : 200e3; }));
    REQUIRE(step.size() == 1);
    CHECK(step[0] == 156);
    const auto bend = find_breaks(series(2000, seed, [](double at) { return std::max(0.0, at - 4e9) * 60e-6; }));
    REQUIRE(bend.size() == 1);
    CHECK(std::abs(static_cast<double>(bend[0]) - 800) < 120);
    const auto two = find_breaks(series(900, seed, [](double at) { return at < 1e9 ? 0.0 : at < 3e9 ? 5e9 : -1e6; }));
    REQUIRE(two.size() == 2);
    CHECK((two[0] == 200 && two[1] == 600));
  }
}

TEST_CASE("breaks: what lies far off now and then breaks nothing") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::size_t i = 0;
    CHECK(find_breaks(series(500, seed, [&](double) { return ++i % 5 == 0 ? 2e6 : 0; })).empty());
  }
}
