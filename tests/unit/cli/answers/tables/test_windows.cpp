// Which window is the first that ends after a moment, and whether work runs in one: against a look at every window.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cli/answers/tables/windows.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

void compare_with_all(const Windows& windows, ProcessId process) {
  const std::vector<AnalysisWindow>& all = windows.of(process);
  for (std::int64_t start_ns = 0; start_ns <= 60; ++start_ns) {
    std::size_t first = 0;
    while (first < all.size() && all[first].to_ns <= start_ns) ++first;
    CHECK(windows.first_after(process, start_ns) == first);
    for (std::int64_t end_ns = start_ns; end_ns <= 60; ++end_ns) {
      bool runs_in_one = false;
      std::int64_t inside_ns = 0;
      for (const AnalysisWindow& window : all) {
        const bool begins_in_it = window.from_ns <= start_ns && start_ns < window.to_ns;
        const bool reaches_in = start_ns < window.from_ns && window.from_ns < end_ns;
        runs_in_one = runs_in_one || begins_in_it || reaches_in;
        for (std::int64_t ns = start_ns; ns < end_ns; ++ns) inside_ns += window.from_ns <= ns && ns < window.to_ns;
      }
      CHECK(windows.hold(process, start_ns, end_ns) == runs_in_one);
      CHECK(windows.inside_ns(process, start_ns, end_ns) == inside_ns);
    }
  }
}

Steps steps_at(const std::vector<std::vector<TimeWindow>>& times) {
  Steps steps;
  for (const auto& of_process : times) {
    std::vector<Step>& own = steps.emplace_back();
    for (const TimeWindow& time : of_process) {
      Step step;
      step.number = static_cast<std::int64_t>(own.size());
      step.start_ns = time.from_ns;
      step.end_ns = time.to_ns;
      own.push_back(step);
    }
  }
  return steps;
}

}  // namespace

TEST_CASE("windows: of none, one and several, the first that ends after a moment, and what runs in one") {
  const std::vector<TimeWindow> whole(4, TimeWindow{0, 100});
  const Windows windows(steps_at({{}, {{10, 20}}, {{10, 20}, {20, 25}, {40, 50}}, {{0, 100}}}), true, whole);
  for (ProcessId process = 0; process < 4; ++process) compare_with_all(windows, process);
  compare_with_all(Windows({TimeWindow{30, 40}}), 0);
}

TEST_CASE("windows: where nothing is chosen one window holds everything") {
  const Windows windows(std::size_t{2});
  compare_with_all(windows, 1);
  CHECK_FALSE(windows.are_bounded());
}

TEST_CASE("windows: a step has a time on the GPU and one on the host; work counts in the step that launched it") {
  const std::vector<TimeWindow> whole(1, TimeWindow{0, 1000});
  const Steps steps{{{5, 10, 20, 30, 50, 2}, {6, 20, 30, 50, 50, 0}, {7, 30, 40, 50, 90, 1}}};
  const Windows windows(steps, true, whole);
  REQUIRE(windows.of(0).size() == 3);
  CHECK((windows.of(0)[0].from_ns == 30 && windows.of(0)[0].to_ns == 50 && windows.of(0)[0].host_from_ns == 10 &&
         windows.of(0)[0].host_to_ns == 20));
  CHECK(windows.launched_in(0, 19) == 0u);
  CHECK(windows.launched_in(0, 20) == 1u);  // nothing on the GPU
  CHECK(windows.launched_in(0, 39) == 2u);
  CHECK_FALSE(windows.launched_in(0, 40).has_value());
  CHECK_FALSE(windows.launched_in(0, std::nullopt).has_value());
  CHECK(windows.host().inside_ns(0, 0, 100) == 30);
  CHECK(windows.inside_ns(0, 0, 100) == 60);
  const Windows together(steps, false, whole);
  REQUIRE(together.of(0).size() == 2);
  CHECK((together.of(0).front().from_ns == 30 && together.of(0).back().to_ns == 90));
}
