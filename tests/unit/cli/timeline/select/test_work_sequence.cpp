// Steps by the period of kernels: how it is found, where steps begin, and that a long recording needs no more memory.
#include <algorithm>
#include <random>
#include <vector>

#include "cli/timeline/select/step_period.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

// Launched one behind the other, each ends on the GPU 10 ns after its call; a step of `kernels` that differ but for two, after a gap of 50.
class MadeSequence {
 public:
  explicit MadeSequence(std::uint32_t kernels) : kernels_(kernels) {}

  void step() {
    now_ += 50;
    for (std::uint32_t i = 0; i < kernels_; ++i) launch(i == kernels_ - 1 ? 0 : i, 1);
  }
  void launch(std::uint32_t name, std::uint32_t grid) {
    LaunchedWork work;
    work.order = ++correlation_;
    work.launched_ns = now_ + 1;
    work.returned_ns = now_ += 2;
    work.end_ns = now_ + 10;
    work.name = name;
    work.grid = grid;
    made.push_back(work);
  }
  // As the GPU might start them.
  void mix(std::size_t far) {
    std::mt19937 random(1);
    for (std::size_t i = 0; i + far < made.size(); i += far)
      std::shuffle(made.begin() + static_cast<std::ptrdiff_t>(i), made.begin() + static_cast<std::ptrdiff_t>(i + far),
                   random);
  }
  ProcessSteps found(std::size_t most) const {
    WorkSequence sequence(most);
    for (const LaunchedWork& work : made) sequence.add(work);
    ProcessSteps steps;
    sequence.finish(steps);
    return steps;
  }

  std::vector<LaunchedWork> made;

 private:
  std::uint32_t kernels_;
  std::int64_t now_ = 0, correlation_ = 10;
};

}  // namespace

TEST_CASE("work sequence: the period, and steps that begin when the kernel before was launched") {
  MadeSequence made(40);
  for (int i = 0; i < 5; ++i) made.step();
  const ProcessSteps steps = made.found(1 << 12);
  CHECK(steps.period == KernelPeriod{40, 160, 160, false});
  CHECK(steps.steps == std::vector<Step>{{0, 51, 130, 51, 140, 40},
                                         {1, 130, 260, 140, 270, 40},
                                         {2, 260, 390, 270, 400, 40},
                                         {3, 390, 520, 400, 530, 40},
                                         {4, 520, 650, 530, 660, 40}});
}

TEST_CASE(
    "work sequence: kernels start in another order than they were launched in, and longer than they are all held") {
  MadeSequence made(40);
  for (int i = 0; i < 100; ++i) made.step();
  const ProcessSteps all = made.found(1 << 14);
  made.mix(30);
  CHECK(made.found(1 << 14).steps == all.steps);
  const ProcessSteps held = made.found(1 << 10);  // of which 64 wait
  CHECK(held.steps == all.steps);
  CHECK((held.period.kernels == 40 && held.period.matched == held.period.compared));
}

TEST_CASE("work sequence: the numbers of launches begin again") {
  MadeSequence made(40);
  for (int i = 0; i < 5; ++i) made.step();
  const ProcessSteps steps = made.found(1 << 12);
  for (LaunchedWork& work : made.made) work.order = (work.order + 0xffffffff - 90) & 0xffffffff;
  CHECK(made.found(1 << 12).steps == steps.steps);
}

TEST_CASE("work sequence: grids that vary leave the names") {
  MadeSequence made(40);
  for (int i = 0; i < 5; ++i) made.step();
  std::mt19937 random(1);
  for (LaunchedWork& work : made.made) work.grid = static_cast<std::uint32_t>(random());
  const ProcessSteps steps = made.found(1 << 12);
  CHECK(steps.period == KernelPeriod{40, 160, 160, true});
  CHECK(steps.steps.size() == 5);
}

TEST_CASE("work sequence: what is there as a whole, and was launched in the trace, is a step") {
  MadeSequence made(40);
  for (int i = 0; i < 5; ++i) made.step();
  made.made.pop_back();
  CHECK(made.found(1 << 12).steps.size() == 4);
  for (int i = 0; i < 45; ++i) made.made[static_cast<std::size_t>(i)].returned_ns = LaunchedWork::kNotReturned;
  const ProcessSteps later = made.found(1 << 12);
  REQUIRE(later.steps.size() == 2);
  CHECK(later.steps[0] == Step{0, 260, 390, 270, 400, 40});
}

TEST_CASE("work sequence: too few kernels, or none that come again, are no steps") {
  MadeSequence few(10);
  few.step();
  CHECK((few.found(1 << 12).period.kernels == 0 && few.found(1 << 12).steps.empty()));
  MadeSequence other(10);
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) other.launch(static_cast<std::uint32_t>(random() % 20), 1);
  const ProcessSteps found = other.found(1 << 12);
  CHECK((found.steps.empty() && found.found_by.empty() && !found.period.is_accepted()));
}

TEST_CASE("work sequence: layers of less than two steps are no steps") {
  const auto trained = [](double iterations) {
    MadeSequence made(0);
    const auto kernels = static_cast<std::size_t>(iterations * 440);
    while (made.made.size() < kernels) {
      made.launch(100, 1);
      for (std::uint32_t i = 0; i < 24 * 6; ++i) made.launch(i % 6, 1);
      for (std::uint32_t i = 0; i < 24 * 12; ++i) made.launch(10 + i % 12, 1);
      for (std::uint32_t i = 0; i < 7; ++i) made.launch(101 + i, 1);
    }
    made.made.resize(kernels);
    return made.found(1 << 14);
  };
  for (const double iterations : {1.0, 1.8}) {
    const ProcessSteps found = trained(iterations);
    CHECK((found.period.is_accepted() && found.period.kernels == 12));
    CHECK((found.steps.empty() && found.found_by.empty() && !found.by_period()));
    CHECK((found.repeated > 0 && found.repeated * 4 < found.launched * 3));
  }
  const ProcessSteps more = trained(2.5);
  CHECK((more.period.kernels == 440 && more.steps.size() >= 1 && more.steps.size() <= 2));
}

TEST_CASE("work sequence: repeats between kernels that are nowhere else are a part of one iteration") {
  const auto found = [](int repeats, bool begins, bool ends) {
    MadeSequence made(0);
    for (std::uint32_t i = 0; begins && i < 3; ++i) made.launch(200 + i, 1);
    for (int repeat = 0; repeat < repeats; ++repeat) {
      for (std::uint32_t i = 0; i < 14; ++i) made.launch(i, 1);
    }
    for (std::uint32_t i = 0; ends && i < 3; ++i) made.launch(300 + i, 1);
    return made.found(1 << 14);
  };
  const ProcessSteps layers = found(35, true, true);
  CHECK((layers.steps.empty() && layers.found_by.empty() && layers.period.kernels == 14));
  CHECK((layers.repeats >= 34 && layers.repeats_within == kWholeTrace));
  CHECK(found(35, true, false).steps.size() >= 34);  // what a program launches before its loop
  CHECK(found(35, false, true).steps.size() >= 34);
  CHECK(found(300, true, true).steps.size() >= 299);  // no model has so many layers
}
