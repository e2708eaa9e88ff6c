#include <algorithm>
#include <vector>

#include "cli/formats/ring/clock_axis.h"
#include "tests/unit/catch.h"

using cli::ring::ClockAxis;
using cli::ring::CuptiTimes;

namespace {
constexpr std::uint64_t kAxisSecond = 1'000'000'000;
constexpr std::uint64_t kAxisDay = 86'400 * kAxisSecond;
constexpr std::uint64_t kReal = 20'000 * kAxisDay;
constexpr std::uint64_t kMono = 2 * kAxisDay;

// CUPTI on the wall clock, then on a profiler's monotonic one.
const trace::ClockSample kBefore{kReal, kMono, kReal, 100};
const trace::ClockSample kAfter{kMono + 10 * kAxisSecond, kMono + 10 * kAxisSecond, kReal + 10 * kAxisSecond, 100};
}  // namespace

TEST_CASE("times of one base become wall time by the tightest sample") {
  ClockAxis axis({kBefore});
  axis.enter_block(kBefore);
  CHECK(axis.from_cupti(kReal + 5) == static_cast<std::int64_t>(kReal + 5));
  CHECK(axis.from_mono(kMono + 7) == static_cast<std::int64_t>(kReal + 7));
}

TEST_CASE("a time of another base in the same block is taken in its own") {
  ClockAxis axis({kBefore, kAfter});
  axis.enter_block(kBefore);
  CHECK(axis.from_cupti(kReal + 5) == static_cast<std::int64_t>(kReal + 5));
  CHECK(axis.from_cupti(kMono + 10 * kAxisSecond + 5) == static_cast<std::int64_t>(kReal + 10 * kAxisSecond + 5));
  axis.enter_block(kAfter);
  CHECK(axis.from_cupti(kReal + 5) == static_cast<std::int64_t>(kReal + 5));
  CHECK(axis.from_cupti(kMono + 11 * kAxisSecond) == static_cast<std::int64_t>(kReal + 11 * kAxisSecond));
}

TEST_CASE("a time that no base puts into the recording stays what it is") {
  ClockAxis axis({kBefore});
  axis.enter_block(kBefore);
  CHECK(axis.from_cupti(kReal + kAxisDay) == static_cast<std::int64_t>(kReal + kAxisDay));
}

TEST_CASE("without samples of CUPTI its times are not changed") {
  ClockAxis axis({{0, kMono, kReal, 100}});
  CHECK(axis.from_cupti(42) == 42);
}

TEST_CASE("a damaged sample moves nothing") {
  const trace::ClockSample kDamaged{7'671'438'862'039'646'208, kMono, 2'182'162'244'745'288'000, 1};
  const trace::ClockSample kOther{5, kMono, UINT64_MAX - 5, 1};
  ClockAxis axis({kDamaged, kBefore, kOther});
  axis.enter_block(kOther);
  CHECK(axis.from_cupti(kReal + 5) == static_cast<std::int64_t>(kReal + 5));
  CHECK(axis.from_mono(kMono + 7) == static_cast<std::int64_t>(kReal + 7));
  CHECK(axis.stepped_blocks() == 0);
}

namespace {
// What all clocks show so long after kBefore; the wall clock, and CUPTI's with it, was set by so much.
trace::ClockSample sample_at(std::uint64_t since, std::int64_t set_ns, std::uint64_t uncertainty = 200) {
  const std::uint64_t real = kReal + since + static_cast<std::uint64_t>(set_ns);
  return {real, kMono + since, real, uncertainty};
}
constexpr std::int64_t kAxisMs = 1'000'000;
}  // namespace

TEST_CASE("a wall clock that is set moves neither the calls of the host nor CUPTI's") {
  for (const std::int64_t by_ns :
       {300 * kAxisMs, -300 * kAxisMs, 5000 * kAxisMs, -5000 * kAxisMs, 20 * kAxisMs, -20 * kAxisMs}) {
    CAPTURE(by_ns);
    // Set at 10.05 s; samples around it are 100 ms apart. One before it is the tightest.
    ClockAxis axis({kBefore, sample_at(2 * kAxisSecond, 0, 1), sample_at(20 * kAxisSecond, by_ns)},
                   {sample_at(10 * kAxisSecond, 0), sample_at(10 * kAxisSecond + 100 * kAxisMs, by_ns)});
    CHECK(axis.was_set());
    REQUIRE(axis.steps().size() == 1);
    CHECK(axis.steps()[0].by_ns == by_ns);
    const auto origin = static_cast<std::int64_t>(kReal) + by_ns;
    CHECK(axis.steps()[0].after_ns == origin + 10'000 * kAxisMs);
    const std::int64_t set_at = 10'050 * kAxisMs;
    const auto by_cupti = [&](std::int64_t since) {
      return kReal + static_cast<std::uint64_t>(since + (since < set_at ? 0 : by_ns));
    };
    const auto times_of = [&](std::int64_t start) {
      return CuptiTimes{0, static_cast<std::uint32_t>(start / kAxisMs + 10), by_cupti(start),
                        by_cupti(start + 3 * kAxisMs)};
    };
    std::vector<CuptiTimes> near;
    for (std::int64_t start = -kAxisMs; start < 30'000 * kAxisMs; start += 10 * kAxisMs) {
      if (axis.set_clock().is_near(times_of(start))) near.push_back(times_of(start));
    }
    CHECK(near.size() < 1500);  // of 3,001
    std::reverse(near.begin(), near.end());
    axis.set_clock().learn(near);
    // Every 10 ms a call of 3 ms, of which one is going on at that moment; the blocks' samples change nothing.
    for (std::int64_t at = 0; at < 30'000 * kAxisMs; at += 10 * kAxisMs) {
      axis.enter_block(sample_at(static_cast<std::uint64_t>(at), at < set_at ? 0 : by_ns));
      const std::int64_t start = at - 1 * kAxisMs, end = at + 2 * kAxisMs;
      const auto times = axis.from_cupti(times_of(start));
      REQUIRE(times.start_ns == origin + start);
      REQUIRE(times.end_ns == origin + end);
      REQUIRE(axis.from_mono(kMono + static_cast<std::uint64_t>(at)) == origin + at);
    }
    CHECK(axis.stepped_blocks() == 0);
  }
}

TEST_CASE("the axis is that of the clock as it was set last, whatever is left of before") {
  const auto first = sample_at(0, 0, 1), second = sample_at(50 * kAxisSecond, 70 * kAxisMs, 1),
             third = sample_at(90 * kAxisSecond, 50 * kAxisMs), last = sample_at(95 * kAxisSecond, 50 * kAxisMs);
  const auto set = static_cast<std::int64_t>(kReal) + 50 * kAxisMs + 5;
  CHECK(ClockAxis({first, third, second, last}).from_mono(kMono + 5) == set);
  CHECK(ClockAxis({first, third, second, last}).steps().size() == 2);
  CHECK(ClockAxis({first, third, last}).from_mono(kMono + 5) == set);
  CHECK(ClockAxis({third, last}).from_mono(kMono + 5) == set);
}

TEST_CASE("what one sample alone says at the end moves nothing") {
  ClockAxis axis({sample_at(0, 0), sample_at(kAxisSecond, 0), sample_at(90 * kAxisSecond, 300 * kAxisMs, 1)});
  CHECK(axis.was_set());
  CHECK(axis.from_mono(kMono + 5) == static_cast<std::int64_t>(kReal + 5));
  const auto times = axis.from_cupti({0, 1, kReal + 95 * kAxisSecond + 300 * kAxisMs, 0});
  CHECK(times.start_ns == static_cast<std::int64_t>(kReal + 95 * kAxisSecond));
}

TEST_CASE("a clock of CUPTI that does not follow the wall clock is left alone") {
  auto after = sample_at(20 * kAxisSecond, 300 * kAxisMs);
  after.cupti_ns = kReal + 20 * kAxisSecond;
  ClockAxis axis({kBefore, after});
  CHECK(axis.was_set());
  const auto times = axis.from_cupti({0, 1, kReal + 30 * kAxisSecond, kReal + 31 * kAxisSecond});
  CHECK((times.start_ns == static_cast<std::int64_t>(kReal + 30 * kAxisSecond) &&
         times.end_ns == static_cast<std::int64_t>(kReal + 31 * kAxisSecond)));
}

TEST_CASE("what had not ended has a start where the wall clock was set, too") {
  ClockAxis axis({kBefore, sample_at(20 * kAxisSecond, 300 * kAxisMs)});
  const auto times = axis.from_cupti({0, 1, kReal + 30 * kAxisSecond + 300 * kAxisMs, 0});
  CHECK((times.start_ns == static_cast<std::int64_t>(kReal + 30 * kAxisSecond) && times.end_ns == 0));
}

TEST_CASE("one sample between two that agree is damaged, and one of a reader that slept tells nothing") {
  CHECK_FALSE(ClockAxis({kBefore, sample_at(kAxisSecond, 300 * kAxisMs), sample_at(2 * kAxisSecond, 0)}).was_set());
  CHECK_FALSE(ClockAxis({kBefore, sample_at(kAxisSecond, 300 * kAxisMs, 400 * kAxisMs), sample_at(2 * kAxisSecond, 0)})
                  .was_set());
}
