// When the work of each step ran: by a walk in the order of time, against a look at all work.
#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "cli/timeline/select/step_numbers.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

struct TimedWork {
  std::int64_t launched_ns, start_ns, end_ns;
};

std::vector<Step> slowly(std::vector<Step> steps, const std::vector<TimedWork>& all) {
  std::int64_t before_ns = std::numeric_limits<std::int64_t>::min();
  for (Step& step : steps) {
    std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
    for (const TimedWork& work : all) {
      if (work.launched_ns < step.start_ns) before_ns = std::max(before_ns, work.end_ns);
      if (step.start_ns <= work.launched_ns && work.launched_ns < step.end_ns)
        end_ns = std::max(end_ns, work.end_ns), ++step.kernels;
    }
    step.gpu_start_ns =
        std::max(before_ns, before_ns == std::numeric_limits<std::int64_t>::min() ? step.start_ns : before_ns);
    step.gpu_end_ns = std::max(step.gpu_start_ns, end_ns);
    before_ns = step.gpu_end_ns;
  }
  return steps;
}

}  // namespace

TEST_CASE("step times: from the end of the work before to the end of its own, on any stream") {
  std::mt19937 random(1);
  for (int turn = 0; turn < 200; ++turn) {
    std::vector<Step> steps;
    std::vector<TimedWork> all;
    std::int64_t now_ns = 1'000;
    for (std::int64_t number = 0; number < 6; ++number) {
      now_ns += random() % 3 == 0 ? 50 : 0;  // what is launched between steps belongs to none
      const std::int64_t start_ns = now_ns;
      now_ns += 100 + static_cast<std::int64_t>(random() % 100);
      steps.push_back({number, start_ns, now_ns});
    }
    for (int i = 0; i < 60; ++i) {
      const auto launched_ns = static_cast<std::int64_t>(1'000 + random() % 1'200),
                 start_ns = launched_ns + static_cast<std::int64_t>(random() % 300);
      all.push_back({launched_ns, start_ns, start_ns + static_cast<std::int64_t>(random() % 80)});
    }
    std::sort(all.begin(), all.end(), [](const TimedWork& a, const TimedWork& b) { return a.start_ns < b.start_ns; });
    StepTimes times;
    auto work = all.begin();
    for (const Step& step : steps) {
      for (; work != all.end() && work->start_ns < step.start_ns; ++work)
        times.add(work->launched_ns, work->end_ns, true);
      times.bound(step.start_ns);
      times.bound(step.end_ns);
    }
    for (; work != all.end(); ++work) times.add(work->launched_ns, work->end_ns, true);
    std::vector<Step> found = steps;
    times.finish(found);
    CHECK(found == slowly(steps, all));
  }
}

TEST_CASE(
    "step times: without work unknown, without own work empty, and what was launched before the trace comes before") {
  std::vector<Step> steps{{0, 100, 200}, {1, 200, 300}};
  StepTimes none;
  none.finish(steps);
  CHECK((steps[0].from_ns() == 100 && steps[0].to_ns() == 200 && !steps[0].knows_gpu_time()));
  StepTimes times;
  times.add_unlaunched(150);
  for (const std::int64_t ns : {100, 200, 300}) times.bound(ns);
  times.add(110, 190, true);
  times.add_unlaunched(500);  // belongs to no step
  times.finish(steps);
  CHECK(steps == std::vector<Step>{{0, 100, 200, 150, 190, 1}, {1, 200, 300, 190, 190, 0}});
}

TEST_CASE("step times: copies make a step whose kernels are known longer") {
  std::vector<Step> steps{{0, 100, 200, 100, 250, 4}, {1, 200, 300, 250, 350, 4}};
  add_copies({{310, 900}, {190, 260}, {50, 120}}, steps);
  CHECK(steps == std::vector<Step>{{0, 100, 200, 120, 260, 4}, {1, 200, 300, 260, 350, 4}});
}
