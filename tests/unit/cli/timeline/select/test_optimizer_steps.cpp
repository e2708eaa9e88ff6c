#include "cli/timeline/select/step_finder.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

constexpr StringId kMuon = 1, kAdam = 2;

struct Marks {
  OptimizerSteps steps;
  Marks& optimizer(StringId name, std::int64_t start_ns, std::int64_t end_ns) {
    steps.add(StepMark::optimizer, name, start_ns, end_ns);
    return *this;
  }
  Marks& begin(std::int64_t start_ns) {
    steps.add(StepMark::begin, 0, start_ns, start_ns + 1);
    return *this;
  }
};

}  // namespace

TEST_CASE("steps by optimizers: which names are marks") {
  CHECK(step_mark("Optimizer.step#AdamW.step") == StepMark::optimizer);
  CHECK(step_mark("Optimizer.zero_grad#AdamW.zero_grad") == StepMark::none);
  CHECK(step_mark("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__") == StepMark::begin);
  CHECK(step_mark("DistributedDataParallel.forward") == StepMark::begin);
  CHECK(step_mark("aten::mm") == StepMark::none);
}

TEST_CASE("steps by optimizers: each ends with the last one before the next forward pass") {
  Marks marks;
  for (std::int64_t at = 0; at < 3'000; at += 1'000)
    marks.begin(at).begin(at + 100).optimizer(kMuon, at + 700, at + 750).optimizer(kAdam, at + 800, at + 900);
  CHECK(marks.steps.steps() == std::vector<Step>{{0, 0, 900}, {1, 900, 1'900}, {2, 1'900, 2'900}});
}

TEST_CASE(
    "steps by optimizers: without forward passes, two that follow each other are one end, and the first has no begin") {
  Marks marks;
  for (std::int64_t at = 0; at < 4'000; at += 1'000) {
    if (at % 2'000 == 1'000) marks.optimizer(kAdam, at + 600, at + 650);
    marks.optimizer(kMuon, at + 700, at + 900);
  }
  CHECK(marks.steps.steps() == std::vector<Step>{{0, 900, 1'900}, {1, 1'900, 2'900}, {2, 2'900, 3'900}});
}

TEST_CASE("steps by optimizers: one that comes again is another step, however soon") {
  Marks marks;
  marks.begin(0);
  for (std::int64_t at = 100; at < 400; at += 100) marks.optimizer(kAdam, at, at + 90);
  CHECK(marks.steps.steps() == std::vector<Step>{{0, 0, 190}, {1, 190, 290}, {2, 290, 390}});
  CHECK(OptimizerSteps().steps().empty());
}
