#include "agent/cupti/graph_nodes.h"
#include "tests/unit/catch.h"

using namespace agent;

// One table per process: the order of the checks is that of a process's life.
TEST_CASE("captured nodes are remembered; once there is no room, any node may be one") {
  CHECK_FALSE(any_captured());
  CHECK_FALSE(may_be_captured(0));
  remember_captured(0);
  remember_captured(1ull << 33 | 7);
  CHECK(any_captured());
  CHECK(may_be_captured(0));
  CHECK(may_be_captured(1ull << 33 | 7));
  CHECK_FALSE(may_be_captured(1ull << 33 | 8));
  CHECK_FALSE(may_be_captured(~0ull));

  for (std::uint64_t node = 1; node < 20'000; ++node) remember_captured(node);
  int strangers = 0;
  for (std::uint64_t node = 1; node < 20'000; ++node) {
    REQUIRE(may_be_captured(node));
    strangers += may_be_captured(node + (1ull << 40));
  }
  CHECK(strangers == 0);

  for (std::uint64_t node = 1; node < 200'000; ++node) remember_captured(node);
  for (std::uint64_t node = 1; node < 200'000; ++node) REQUIRE(may_be_captured(node));
}
