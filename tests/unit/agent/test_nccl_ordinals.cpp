#include "agent/nccl/nccl_ordinals.h"
#include "tests/unit/catch.h"

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

TEST_CASE("more pairs than the table holds get an unknown ordinal, not a wrong one") {
  for (std::uint32_t peer = 0; peer < 10'000; ++peer) {
    const auto ordinal = next_ordinal(0x333, NcclClass::send, peer).ordinal;
    CHECK((ordinal == 0 || ordinal == agent::kUnknownOrdinal));
  }
  CHECK(next_ordinal(0x333, NcclClass::send, 9'999).ordinal == agent::kUnknownOrdinal);
}
