#include "agent/nccl/nccl_payload.h"
#include "tests/unit/catch.h"
#include "tests/unit/cpu_time.h"

using agent::next_ordinal;
using trace::NcclClass;

TEST_CASE("collectives of a communicator are numbered in the order of the calls") {
  CHECK(next_ordinal(0xabc, NcclClass::collective, 0).ordinal == 0);
  CHECK(next_ordinal(0xabc, NcclClass::collective, 3).ordinal == 1);  // a root is no peer
  CHECK(next_ordinal(0xdef, NcclClass::collective, 0).ordinal == 0);
  CHECK(next_ordinal(0xabc, NcclClass::collective, 0).ordinal == 2);
}

TEST_CASE("sends and receives are numbered per peer and direction") {
  CHECK(next_ordinal(0x111, NcclClass::send, 1).ordinal == 0);
  CHECK(next_ordinal(0x111, NcclClass::send, 2).ordinal == 0);
  CHECK(next_ordinal(0x111, NcclClass::receive, 1).ordinal == 0);
  CHECK(next_ordinal(0x111, NcclClass::send, 1).ordinal == 1);
}

TEST_CASE("a communicator that is made again begins anew in another epoch") {
  agent::begin_epoch(0x222, 3);
  const auto first = next_ordinal(0x222, NcclClass::collective, 0);
  agent::begin_epoch(0x222, 3);
  const auto second = next_ordinal(0x222, NcclClass::collective, 0);
  CHECK(first.ordinal == 0);
  CHECK(second.ordinal == 0);
  CHECK(second.epoch == first.epoch + 1);
}

TEST_CASE("several ranks of one communicator in one process have no ordinals") {
  agent::begin_epoch(0x444, 0);
  agent::begin_epoch(0x444, 1);
  CHECK(next_ordinal(0x444, NcclClass::collective, 0).ordinal == agent::kUnknownOrdinal);
  CHECK(next_ordinal(0x445, NcclClass::collective, 0).ordinal == 0);
}

TEST_CASE("sends and receives among thousands of ranks are all numbered") {
  for (std::uint32_t peer = 0; peer < 4096; ++peer) {
    REQUIRE(next_ordinal(0x555, NcclClass::send, peer).ordinal == 0);
    REQUIRE(next_ordinal(0x555, NcclClass::receive, peer).ordinal == 0);
  }
  CHECK(next_ordinal(0x555, NcclClass::receive, 4095).ordinal == 1);
}

TEST_CASE("more pairs than the table holds get an unknown ordinal, not a wrong one, and no slower") {
  constexpr std::uint32_t kPeers = 60'000;
  int wrong = 0;
  for (std::uint32_t peer = 0; peer < kPeers; ++peer) {
    const auto ordinal = next_ordinal(0x333, NcclClass::send, peer).ordinal;
    wrong += ordinal != 0 && ordinal != agent::kUnknownOrdinal;
  }
  CHECK(wrong == 0);
  const std::uint64_t begin_ns = thread_cpu_ns();
  for (int i = 0; i < 10'000; ++i) {
    wrong += next_ordinal(0x333, NcclClass::send, kPeers).ordinal != agent::kUnknownOrdinal;
  }
  CHECK(wrong == 0);
  CHECK(thread_cpu_ns() - begin_ns < 10'000 * 5000);  // 64 probes each; all of the table would take longer
}

TEST_CASE("more communicators than can be told apart have unknown ordinals") {
  int wrong = 0;
  for (std::uint64_t communicator = 0; communicator < 20'000; ++communicator) {
    const auto made = next_ordinal(0x9000000 + communicator * 977, NcclClass::collective, 0);
    wrong += made.ordinal != agent::kUnknownOrdinal && made.ordinal != 0;
  }
  CHECK(wrong == 0);
  CHECK(agent::begin_epoch(0x7777777, 0) == 0);
  CHECK(next_ordinal(0x7777777, NcclClass::collective, 0).ordinal == agent::kUnknownOrdinal);
}
