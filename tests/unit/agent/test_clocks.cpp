#include "agent/clocks/clocks.h"
#include "tests/unit/catch.h"

namespace {
constexpr trace::ClockSample kFirst{1'000'000'000'000, 5'000'000'000, 1'000'000'000'000, 100};

trace::ClockSample later(std::uint64_t cupti_ns, std::uint64_t mono_ns, std::uint64_t real_ns) {
  return {kFirst.cupti_ns + cupti_ns, kFirst.mono_ns + mono_ns, kFirst.real_ns + real_ns, 100};
}
constexpr std::uint64_t kSecond = 1'000'000'000;
}  // namespace

TEST_CASE("clocks that go together are no change of CUPTI's time base") {
  CHECK_FALSE(agent::is_time_base_changed(kFirst, later(kSecond, kSecond, kSecond)));
  CHECK_FALSE(agent::is_time_base_changed(kFirst, later(kSecond + 50'000, kSecond, kSecond)));
}

TEST_CASE("CUPTI follows a wall clock that is set") {
  CHECK_FALSE(agent::is_time_base_changed(kFirst, later(90 * kSecond, kSecond, 90 * kSecond)));
  CHECK_FALSE(agent::is_time_base_changed(kFirst, later(kSecond, kSecond, 90 * kSecond)));
}

TEST_CASE("a jump of CUPTI alone is a change, forward and back") {
  CHECK(agent::is_time_base_changed(kFirst, later(3 * kSecond, kSecond, kSecond)));
  CHECK(agent::is_time_base_changed(kFirst, later(0 - 100 * kSecond, kSecond, kSecond)));
}

TEST_CASE("without CUPTI nothing is known") {
  CHECK_FALSE(agent::is_time_base_changed({0, 1, 1, 1}, later(3 * kSecond, kSecond, kSecond)));
}

TEST_CASE("a wall clock that is set is told from a reader that slept between two readings") {
  const trace::ClockSample slept{0, kFirst.mono_ns + kSecond, kFirst.real_ns + kSecond + 5'000'000, 5'000'000};
  CHECK(agent::is_wall_clock_set(kFirst, later(0, kSecond, kSecond + 5'000'000)));
  CHECK(agent::is_wall_clock_set(kFirst, later(0, kSecond, kSecond - 5'000'000)));
  CHECK_FALSE(agent::is_wall_clock_set(kFirst, later(0, kSecond, kSecond + 500'000)));
  CHECK_FALSE(agent::is_wall_clock_set(kFirst, slept));
}
