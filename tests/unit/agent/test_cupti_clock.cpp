#include <memory>

#include "agent/clocks/cupti_clock.h"
#include "tests/unit/catch.h"

using agent::CuptiClock;

namespace {

constexpr std::uint64_t kSecond_ns = 1'000'000'000;
constexpr std::uint64_t kReal_ns = 1'800'000'000 * kSecond_ns;  // at kMono_ns
constexpr std::uint64_t kMono_ns = 200'000 * kSecond_ns;

std::uint64_t ours(std::uint64_t mono_ns) { return kReal_ns + mono_ns - kMono_ns; }
std::uint64_t ticks(std::uint64_t mono_ns) { return mono_ns / 3 * 8; }

trace::ClockSample sample(std::uint64_t cupti_ns, std::uint64_t mono_ns) {
  return {cupti_ns, mono_ns, ours(mono_ns), 500};
}

// Ours for ten seconds, and from then on `foreign`, read once a second, until `end_s`.
std::unique_ptr<CuptiClock> with_foreign(std::uint64_t (*foreign)(std::uint64_t), int end_s) {
  auto clock = std::make_unique<CuptiClock>();
  for (std::uint64_t at = kMono_ns; at <= kMono_ns + static_cast<std::uint64_t>(end_s) * kSecond_ns; at += kSecond_ns)
    clock->note(sample(at <= kMono_ns + 10 * kSecond_ns ? ours(at) : foreign(at), at));
  return clock;
}

// What is recorded of a time.
std::uint64_t recorded(const CuptiClock& clock, std::uint64_t cupti_ns, std::uint64_t mono_ns) {
  return clock.window(mono_ns).has(cupti_ns) ? cupti_ns : clock.from_foreign(cupti_ns);
}

bool is_near(std::uint64_t found, std::uint64_t expected) {
  return found + 1'000 >= expected && found <= expected + 1'000;
}

}  // namespace

TEST_CASE("before CUPTI's clock was read its times are taken as they are") {
  const auto clock = std::make_unique<CuptiClock>();
  CHECK(clock->is_ours());
  CHECK(recorded(*clock, 42, kMono_ns) == 42);
}

TEST_CASE("ticks between two readings become times, others of them are unknown") {
  const auto clock = with_foreign(ticks, 20);
  const std::uint64_t now = kMono_ns + 20 * kSecond_ns;
  CHECK_FALSE(clock->is_ours());
  for (std::uint64_t at = kMono_ns + 11 * kSecond_ns; at <= now; at += kSecond_ns / 7)
    CHECK(is_near(recorded(*clock, ticks(at), now), ours(at)));
  CHECK(recorded(*clock, ticks(kMono_ns + 11 * kSecond_ns - 1'000), now) == 0);
  CHECK(recorded(*clock, ticks(now + 1'000), now) == 0);
}

TEST_CASE("times of before the change stay, and samples go on in the clock of before") {
  const auto clock = with_foreign(ticks, 20);
  const std::uint64_t now = kMono_ns + 20 * kSecond_ns;
  CHECK(recorded(*clock, ours(kMono_ns + 3 * kSecond_ns), now) == ours(kMono_ns + 3 * kSecond_ns));
  CHECK(recorded(*clock, ours(kMono_ns + 11 * kSecond_ns), now) == ours(kMono_ns + 11 * kSecond_ns));
  CHECK(clock->in_ours(sample(ticks(now), now)).cupti_ns == ours(now));
  CHECK(clock->in_ours(sample(0, now)).cupti_ns == 0);
}

TEST_CASE("a clock of nanoseconds with another begin is foreign too") {
  const auto clock = with_foreign([](std::uint64_t at) { return at + 7'000 * kSecond_ns; }, 15);
  const std::uint64_t now = kMono_ns + 15 * kSecond_ns, at = kMono_ns + 14 * kSecond_ns + 5;
  CHECK(is_near(recorded(*clock, at + 7'000 * kSecond_ns, now), ours(at)));
}

TEST_CASE("one that is near ours: what may be of either is unknown, the rest is right") {
  const auto clock = with_foreign([](std::uint64_t at) { return ours(at) - 5 * kSecond_ns; }, 30);
  const std::uint64_t now = kMono_ns + 30 * kSecond_ns;
  const auto late = [&](std::uint64_t seconds) { return ours(kMono_ns + seconds * kSecond_ns) - 5 * kSecond_ns; };
  CHECK(recorded(*clock, ours(kMono_ns - 20 * kSecond_ns), now) == ours(kMono_ns - 20 * kSecond_ns));
  CHECK(recorded(*clock, ours(kMono_ns + 9 * kSecond_ns), now) == 0);
  CHECK(recorded(*clock, late(13), now) == 0);
  CHECK(is_near(recorded(*clock, late(25), now), ours(kMono_ns + 25 * kSecond_ns)));
}

TEST_CASE("when CUPTI has its clock again, times are of ours, and late ones of the other can still be told") {
  const auto clock = with_foreign(ticks, 20);
  const std::uint64_t now = kMono_ns + 21 * kSecond_ns;
  clock->note(sample(ours(now), now));
  CHECK(clock->is_ours());
  CHECK(recorded(*clock, ours(now) - 5, now) == ours(now) - 5);
  CHECK(is_near(recorded(*clock, ticks(now - 3 * kSecond_ns), now), ours(now - 3 * kSecond_ns)));
  CHECK(recorded(*clock, ticks(now), now) == 0);
}

TEST_CASE("a foreign clock that was there first is none of ours") {
  const auto clock = std::make_unique<CuptiClock>();
  const std::uint64_t now = kMono_ns + kSecond_ns;
  clock->note(sample(ticks(kMono_ns), kMono_ns));
  CHECK_FALSE(clock->is_ours());
  CHECK(clock->in_ours(sample(ticks(kMono_ns), kMono_ns)).cupti_ns == kReal_ns);
  CHECK(recorded(*clock, ticks(kMono_ns + 5), kMono_ns) == 0);
  clock->note(sample(ticks(now), now));
  CHECK(is_near(recorded(*clock, ticks(kMono_ns + 5'000'000), now), kReal_ns + 5'000'000));
}

TEST_CASE("a clock that goes with the monotonic one may be CUPTI's own") {
  const auto clock = std::make_unique<CuptiClock>();
  clock->note(sample(kMono_ns + kSecond_ns, kMono_ns));
  CHECK(clock->is_ours());
}

TEST_CASE("readings of two foreign clocks are no line") {
  const auto clock = with_foreign(ticks, 20);
  const std::uint64_t now = kMono_ns + 21 * kSecond_ns;
  clock->note(sample(5 * ticks(now), now));
  CHECK(recorded(*clock, 3 * ticks(now), now) == 0);
  CHECK(recorded(*clock, ticks(now - 3 * kSecond_ns), now) == 0);
  clock->note(sample(5 * ticks(now + kSecond_ns), now + kSecond_ns));
  CHECK(is_near(recorded(*clock, 5 * ticks(now + kSecond_ns / 2), now + kSecond_ns), ours(now + kSecond_ns / 2)));
}

TEST_CASE("a reading that is noted late changes nothing") {
  const auto clock = with_foreign(ticks, 20);
  const std::uint64_t now = kMono_ns + 20 * kSecond_ns;
  clock->note(sample(ticks(now - 1'000'000), now - 1'000'000));
  clock->note(sample(ticks(now - 100), now));
  clock->note(sample(ours(kMono_ns + 10 * kSecond_ns), kMono_ns + 10 * kSecond_ns));
  CHECK_FALSE(clock->is_ours());
  for (std::uint64_t at = kMono_ns + 11 * kSecond_ns; at <= now; at += kSecond_ns / 7)
    CHECK(is_near(recorded(*clock, ticks(at), now), ours(at)));
}

TEST_CASE("two readings that are close and blurred do not give the pace") {
  const auto clock = with_foreign(ticks, 11);
  const std::uint64_t first = kMono_ns + 11 * kSecond_ns, close = first + 100'000, now = first + kSecond_ns / 50;
  clock->note({ticks(close + 1'000), close, ours(close), 4'000});
  clock->note(sample(ticks(now), now));
  CHECK(is_near(recorded(*clock, ticks(now - 1'000'000), now), ours(now - 1'000'000)));
}

TEST_CASE("readings close to each other, and more than are kept") {
  const auto clock = with_foreign(ticks, 11);
  std::uint64_t now = kMono_ns + 11 * kSecond_ns;
  for (int i = 0; i < 100'000; ++i) {
    now += 10'000'000;
    clock->note(sample(ticks(now), now));
  }
  CHECK(is_near(recorded(*clock, ticks(now - 60 * kSecond_ns), now), ours(now - 60 * kSecond_ns)));
  CHECK(recorded(*clock, ticks(kMono_ns + 12 * kSecond_ns), now) == 0);
}

TEST_CASE("a wall clock that is set is no foreign clock") {
  const auto clock = with_foreign(ours, 12);
  const std::uint64_t now = kMono_ns + 13 * kSecond_ns, step = 90 * 60 * kSecond_ns;
  clock->note({ours(now) + step, now, ours(now) + step, 500});
  CHECK(clock->is_ours());
  CHECK(recorded(*clock, ours(now) + step, now) == ours(now) + step);
  CHECK(recorded(*clock, ours(now - kSecond_ns), now) == ours(now - kSecond_ns));
}
