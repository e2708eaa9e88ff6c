#include "cli/timeline/select/step_name.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

void is_step(std::string_view name, std::size_t family, std::int64_t number) {
  INFO(std::string(name));
  const auto found = step_name(name);
  REQUIRE(found);
  CHECK(found->family == family);
  CHECK(found->number == number);
}

}  // namespace

TEST_CASE("step names: what programs write") {
  is_step("ProfilerStep#12", 0, 12);
  is_step("Train step 3", 1, 3);  // llm.c
  is_step("train_step_12", 1, 12);
  is_step("training step: 7", 1, 7);
  is_step("trainStep4", 1, 4);
  is_step("step 0", 2, 0);
  is_step("STEP#9", 2, 9);
  is_step("step:5/2315", 2, 5);
  is_step("global_step=100", 2, 100);
  is_step("iteration12", 3, 12);
  is_step("Iteration 12", 3, 12);
  is_step("iter-1", 3, 1);
  is_step("train_iter_8", 3, 8);
  is_step("Batch 2", 4, 2);
  is_step("step 999999999999999999", 2, 999999999999999999);
}

TEST_CASE("step names: what is none") {
  for (const std::string_view name :
       {"", "step", "step ", "12", "Optimizer.step#SGD.step", "eval step 3", "Micro-step 1", "step 3 forward",
        "stepper 3", "step 3/", "step 3/x4", "ProfilerStep*", "layer 12", "backstep 3", "step 1234567890123456789",
        "batchnorm2d", "iter(1)", "step 3/4/5", "step -"}) {
    INFO(std::string(name));
    CHECK(!step_name(name));
  }
}
