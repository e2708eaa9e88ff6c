#include "agent/native/call_stacks.h"
#include "tests/unit/catch.h"

using namespace agent;

namespace {
constexpr auto kRuntime = CUPTI_CB_DOMAIN_RUNTIME_API, kDriver = CUPTI_CB_DOMAIN_DRIVER_API;
}  // namespace

TEST_CASE("a call of the driver inside one of the runtime is none of its own") {
  enable_stack_callbacks(nullptr);
  CHECK(begins_call(kDriver, CUPTI_API_ENTER));
  CHECK(!begins_call(kDriver, CUPTI_API_EXIT));
  CHECK(begins_call(kRuntime, CUPTI_API_ENTER));
  CHECK(!begins_call(kDriver, CUPTI_API_ENTER));
  CHECK(!begins_call(kDriver, CUPTI_API_EXIT));
  CHECK(!begins_call(kRuntime, CUPTI_API_EXIT));
  CHECK(begins_call(kDriver, CUPTI_API_ENTER));
}

TEST_CASE("a call whose end was not told, because callbacks ended, hides no calls of the driver") {
  enable_stack_callbacks(nullptr);
  CHECK(begins_call(kRuntime, CUPTI_API_ENTER));
  enable_stack_callbacks(nullptr);
  CHECK(begins_call(kDriver, CUPTI_API_ENTER));
  CHECK(begins_call(kRuntime, CUPTI_API_ENTER));
  CHECK(!begins_call(kDriver, CUPTI_API_ENTER));
  CHECK(!begins_call(kRuntime, CUPTI_API_EXIT));
}
