#include <string>
#include <thread>

#include "agent/cupti/graph_nodes.h"
#include "agent/nvtx/live_ranges.h"
#include "tests/unit/catch.h"

using namespace agent;

namespace {

OpenNcclCall call_of(std::uint64_t ordinal) {
  OpenNcclCall call{};
  call.name = "ncclAllReduce";
  call.ordinal = ordinal;
  return call;
}

std::string innermost() {
  OpenRange open;
  return current_range(open) && open.has_range ? std::string(open.name) : "none";
}

}  // namespace

TEST_CASE("ranges nest, per domain") {
  const Domain* mine = make_domain("mine");
  CHECK(innermost() == "none");
  range_opened(nullptr, "step");
  range_opened(mine, "forward");
  CHECK(innermost() == "forward");
  OpenRange open;
  CHECK(current_range(open));
  CHECK(open.domain == "mine");
  range_closed(nullptr);  // crosses the other domain's
  CHECK(innermost() == "forward");
  range_closed(nullptr);  // one too many
  CHECK(innermost() == "forward");
  range_closed(mine);
  CHECK(innermost() == "none");
}

TEST_CASE("deeper ranges than are kept are counted") {
  for (int i = 0; i < 100; ++i) range_opened(nullptr, std::to_string(i));
  CHECK(innermost() == "63");
  for (int i = 0; i < 90; ++i) range_closed(nullptr);
  CHECK(innermost() == "9");
  for (int i = 0; i < 10; ++i) range_closed(nullptr);
  CHECK(innermost() == "none");
}

TEST_CASE("a call of NCCL is told beside the program's range") {
  const Domain* nccl = make_domain("NCCL");
  range_opened(nullptr, "backward");
  nccl_call_opened(nccl, call_of(7));
  OpenRange open;
  REQUIRE(current_range(open));
  CHECK((open.name == "backward" && open.nccl_calls == 1 && open.nccl.ordinal == 7));
  range_closed(nccl);
  REQUIRE(current_range(open));
  CHECK(open.nccl_calls == 0);
  range_closed(nullptr);
}

TEST_CASE("the end of a group launches for its calls") {
  const Domain* nccl = make_domain("NCCL");
  const auto range = [&](const char* name) {
    range_opened(nccl, name);
    range_closed(nccl);
  };
  range("ncclGroupStart");
  for (std::uint64_t i = 0; i < 3; ++i) {
    nccl_call_opened(nccl, call_of(i));
    range_closed(nccl);
  }
  range("ncclGroupStart");
  range_opened(nccl, "ncclGroupEnd");  // of the inner group: nothing is launched yet
  OpenRange open;
  CHECK((!current_range(open) && open.nccl_calls == 0));
  range_closed(nccl);
  range_opened(nccl, "ncclGroupEnd");
  REQUIRE(current_range(open));
  CHECK((open.nccl_calls == 3 && open.nccl.ordinal == 0));
  CHECK(agent::describe_captured(7, open).has == (open.nccl.has | trace::kHasFirstOf));
  open.nccl_calls = 1;
  CHECK(agent::describe_captured(7, open).has == open.nccl.has);
  range_closed(nccl);
  range_opened(nccl, "ncclGroupEnd");
  CHECK_FALSE(current_range(open));
  range_closed(nccl);
}

// What NCCL 2.18.1 and 2.21.5 push for an ncclSend outside of any group.
TEST_CASE("a group inside of a call launches for that call") {
  const Domain* nccl = make_domain("NCCL");
  nccl_call_opened(nccl, call_of(7));
  range_opened(nccl, "ncclGroupStart");
  range_closed(nccl);
  range_opened(nccl, "ncclGroupEnd");
  OpenRange open;
  REQUIRE(current_range(open));
  CHECK((open.nccl_calls == 1 && open.nccl.ordinal == 7));
  range_closed(nccl);
  range_closed(nccl);
  CHECK_FALSE(current_range(open));
  // Inside of the program's own group it launches nothing, and counts once.
  range_opened(nccl, "ncclGroupStart");
  range_closed(nccl);
  nccl_call_opened(nccl, call_of(8));
  range_opened(nccl, "ncclGroupStart");
  range_closed(nccl);
  range_opened(nccl, "ncclGroupEnd");
  CHECK((!current_range(open) && open.nccl_calls == 0));
  range_closed(nccl);
  range_closed(nccl);
  range_opened(nccl, "ncclGroupEnd");
  REQUIRE(current_range(open));
  CHECK((open.nccl_calls == 1 && open.nccl.ordinal == 8));
  range_closed(nccl);
  CHECK_FALSE(current_range(open));
}

TEST_CASE("each thread has its own, and a thread that ends leaves nothing") {
  range_opened(nullptr, "here");
  for (int i = 0; i < 3; ++i) {
    std::thread([] {
      CHECK(innermost() == "none");
      range_opened(nullptr, "there");
      CHECK(innermost() == "there");
    }).join();
  }
  CHECK(innermost() == "here");
  range_closed(nullptr);
}
