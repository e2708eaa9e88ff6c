#include <cmath>
#include <random>

#include "cli/timeline/clocks/line_fit.h"
#include "tests/unit/catch.h"

using namespace cli;

TEST_CASE("line: medians by weight") {
  CHECK(weighted_median({}) == 0);
  CHECK(weighted_median({{0, 3}, {0, 1}, {0, 2}}) == 2);
  CHECK(weighted_median({{0, 1}, {0, 2}}) == 1.5);
  CHECK(weighted_median({{0, 1, 1}, {0, 2, 1}, {0, 9, 5}}) == 9);
}

TEST_CASE("line: exact points, few points, and a third of them far off") {
  const Line exact = fit_line({{0, 5}, {10, 25}, {20, 45}, {30, 65}});
  CHECK(exact.slope == Approx(2));
  CHECK(exact.value(5) == Approx(15));
  CHECK(std::isinf(fit_line({{0, 5}, {10, 6}}).offset_error));
  CHECK(fit_line({{0, 5}, {10, 6}}).offset == 5.5);

  std::mt19937_64 random(1);
  std::normal_distribution<> noise(0, 10);
  std::vector<LinePoint> points;
  for (int i = 0; i < 1000; ++i) {
    const double at = i * 1e6;
    points.push_back({at, 700 + 30e-6 * at + noise(random) + (i % 3 == 0 ? 100'000 : 0)});
  }
  const Line line = fit_line(points);
  CHECK(line.slope == Approx(30e-6).epsilon(0.01));
  CHECK(std::abs(line.value(0) - 700) < 10);
  CHECK(line.offset_error < 3);
}

TEST_CASE("line: its errors are those that it has") {
  std::mt19937_64 random(2);
  std::normal_distribution<> noise(0, 10);
  int offset_outside = 0, slope_outside = 0;
  for (int run = 0; run < 400; ++run) {
    std::vector<LinePoint> points;
    for (int i = 0; i < 50; ++i) points.push_back({i * 1.0, noise(random)});
    const Line line = fit_line(points);
    offset_outside += std::abs(line.offset) > 2 * line.offset_error;
    slope_outside += std::abs(line.slope) > 3 * line.slope_error;
  }
  CHECK(offset_outside < 400 * 0.10);  // 4.6 % of a normal distribution
  CHECK(slope_outside < 400 * 0.03);   // 0.3 %
}

TEST_CASE("line: through delays, the early ones tell more") {
  std::mt19937_64 random(3);
  std::exponential_distribution<> delay(1.0 / 1000);
  double squares[2] = {0, 0};  // of the slopes' errors
  for (int run = 0; run < 200; ++run) {
    std::vector<LinePoint> points;
    for (int i = 0; i < 300; ++i) points.push_back({i * 1.0, -delay(random)});
    for (const bool early : {false, true}) {
      const Line line = fit_line(points, early ? 0.15 : 1);
      squares[early] += line.slope * line.slope;
    }
  }
  CHECK(squares[true] < 0.5 * squares[false]);
}
