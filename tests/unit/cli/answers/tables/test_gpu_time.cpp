// How the time of a device divides, against a table of every nanosecond.
#include <array>
#include <random>
#include <vector>

#include "cli/answers/tables/gpu_time.h"
#include "cli/answers/tables/windows.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

struct Interval {
  WorkClass work_class;
  std::int64_t start_ns, end_ns;
};

// For each nanosecond of a short time, which classes run in it.
DeviceTime slow(const std::vector<Interval>& all) {
  constexpr std::size_t kLength = 200;
  std::array<unsigned, kLength> at{};
  DeviceTime time;
  std::int64_t first = kLength, last = 0;
  for (const Interval& each : all) {
    first = std::min(first, each.start_ns), last = std::max(last, each.end_ns);
    for (std::int64_t ns = each.start_ns; ns < each.end_ns; ++ns) {
      at[static_cast<std::size_t>(ns)] |= 1u << static_cast<unsigned>(each.work_class);
    }
  }
  time.span_ns = all.empty() ? 0 : last - first;
  for (const unsigned classes : at) {
    const bool compute = (classes & 1) != 0, comm = (classes & 2) != 0;
    time.busy_ns += classes != 0, time.compute_ns += compute, time.comm_ns += comm;
    time.memory_ns += (classes & 4) != 0, time.exposed_comm_ns += comm && !compute;
  }
  return time;
}

bool equal(const DeviceTime& a, const DeviceTime& b) {
  return a.span_ns == b.span_ns && a.busy_ns == b.busy_ns && a.compute_ns == b.compute_ns && a.comm_ns == b.comm_ns &&
         a.memory_ns == b.memory_ns && a.exposed_comm_ns == b.exposed_comm_ns;
}

}  // namespace

TEST_CASE("gpu time: as each nanosecond says it, whatever runs at once") {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Interval> all(random() % 12);
    for (Interval& each : all) {
      each.work_class = static_cast<WorkClass>(random() % 3);
      each.start_ns = random() % 100;
      each.end_ns = each.start_ns + random() % (round % 2 == 0 ? 10 : 100);
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    GpuTime time;
    for (const Interval& each : all) time.add(each.work_class, each.start_ns, each.end_ns);
    INFO(round);
    REQUIRE(equal(time.time(), slow(all)));
  }
}

TEST_CASE("gpu time: exposed and idle are what is left") {
  GpuTime time;
  time.add(WorkClass::comm, 100, 200);
  time.add(WorkClass::compute, 150, 180);
  time.add(WorkClass::memory, 300, 310);
  CHECK(time.time().exposed_comm_ns == 70);
  CHECK(time.time().idle_ns() == 100);
  CHECK(GpuTime().time().span_ns == 0);
}

TEST_CASE("windows: steps are apart, cut to the chosen time, and as one where they have no numbers") {
  const Steps steps{{{7, 100, 200}, {8, 190, 300}, {9, 400, 500}}, {}};
  const Windows by_step(steps, true, {{0, 450}, {0, 450}});
  REQUIRE(by_step.of(0).size() == 3);
  CHECK((by_step.of(0)[1].from_ns == 200 && by_step.of(0)[1].to_ns == 300 && by_step.of(0)[1].step == 8));
  CHECK(by_step.of(0)[2].to_ns == 450);
  CHECK(by_step.of(1).empty());
  const Windows whole(steps, false, {{150, 1000}, {150, 1000}});
  REQUIRE(whole.of(0).size() == 2);
  CHECK((whole.of(0)[0].from_ns == 150 && whole.of(0)[0].to_ns == 300 && !whole.of(0)[0].step));
  CHECK(by_step.hold(0, 0, 101));
  CHECK_FALSE(by_step.hold(0, 0, 100));
  CHECK(by_step.hold(0, 100, 100));
  CHECK_FALSE(by_step.hold(0, 310, 390));
  CHECK_FALSE(by_step.hold(1, 100, 200));
}
