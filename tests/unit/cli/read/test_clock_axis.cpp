#include "cli/read/clock_axis.h"
#include "tests/unit/catch.h"

using cli::ClockAxis;

namespace {
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kDay = 86'400 * kSecond;
constexpr std::uint64_t kReal = 20'000 * kDay;
constexpr std::uint64_t kMono = 2 * kDay;

// CUPTI on the wall clock, then on a profiler's monotonic one.
const trace::ClockSample kBefore{kReal, kMono, kReal, 100};
const trace::ClockSample kAfter{kMono + 10 * kSecond, kMono + 10 * kSecond, kReal + 10 * kSecond, 100};
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
  CHECK(axis.from_cupti(kMono + 10 * kSecond + 5) == static_cast<std::int64_t>(kReal + 10 * kSecond + 5));
  axis.enter_block(kAfter);
  CHECK(axis.from_cupti(kReal + 5) == static_cast<std::int64_t>(kReal + 5));
  CHECK(axis.from_cupti(kMono + 11 * kSecond) == static_cast<std::int64_t>(kReal + 11 * kSecond));
}

TEST_CASE("a time that no base puts into the recording stays what it is") {
  ClockAxis axis({kBefore});
  axis.enter_block(kBefore);
  CHECK(axis.from_cupti(kReal + kDay) == static_cast<std::int64_t>(kReal + kDay));
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
