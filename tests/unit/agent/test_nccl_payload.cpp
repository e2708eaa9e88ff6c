#include <cstring>
#include <string>

#include "agent/nccl/nccl_payload.h"
#include "tests/unit/catch.h"

using namespace agent;

namespace {

trace::NcclCallRecord decoded(const char* name, const void* payload, std::size_t bytes) {
  auto record = trace::make_record<trace::NcclCallRecord>();
  decode_nccl_call(record, *find_nccl_operation(name), payload, bytes);
  return record;
}

constexpr std::uint64_t kSchemas = 1u << 24;

}  // namespace

TEST_CASE("payloads with a communicator, NCCL 2.25 and later") {
  const struct {
    std::uint64_t communicator, bytes;
    std::int32_t root, op;
  } reduce{0xabc, 4096, 3, 2};
  const auto record = decoded("ncclReduce", &reduce, sizeof(reduce));
  CHECK(record.has == (trace::kHasCommunicator | trace::kHasBytes | trace::kHasPeer | trace::kHasReductionOp));
  CHECK(record.communicator == 0xabc);
  CHECK(record.bytes == 4096);
  CHECK(record.peer == 3);
  CHECK(record.reduction_op == 2);
  const auto gather = decoded("ncclAllGather", &reduce, 16);
  CHECK((gather.has == (trace::kHasCommunicator | trace::kHasBytes) && gather.bytes == 4096));
}

TEST_CASE("payloads without one, NCCL 2.16 to 2.24") {
  const struct {
    std::uint64_t bytes;
    std::int32_t peer;
  } send{64, 7};
  const auto record = decoded("ncclSend", &send, sizeof(send));
  CHECK(record.has == (trace::kHasBytes | trace::kHasPeer));
  CHECK((record.bytes == 64 && record.peer == 7 && record.communicator == 0));
  CHECK(decoded("ncclAllGather", &send, 8).has == trace::kHasBytes);
}

TEST_CASE("a payload of another size, or none, says nothing") {
  const char bytes[256] = {};
  for (std::size_t size = 0; size < sizeof(bytes); ++size) {
    const bool known = size == 16 || size == 24;
    INFO(size);
    CHECK((decoded("ncclAllReduce", bytes, size).has != 0) == known);
    CHECK(decoded("ncclAllReduce", nullptr, size).has == 0);
  }
}

TEST_CASE("every call that moves data is known, others are not") {
  for (const char* name : {"ncclAllReduce", "ncclBroadcast", "ncclReduce", "ncclAllGather", "ncclReduceScatter",
                           "ncclAlltoAll", "ncclGather", "ncclScatter", "ncclSend", "ncclRecv"}) {
    INFO(name);
    CHECK(find_nccl_operation(name) != nullptr);
  }
  for (const char* name : {"", "nccl", "ncclGroupStart", "ncclCommInitRank", "ncclPutSignal", "ncclAllReduceX"}) {
    INFO(name);
    CHECK(find_nccl_operation(name) == nullptr);
  }
}

TEST_CASE("inits before 2.25: rank, ranks and device with the push") {
  const std::int32_t payload[] = {3, 8, 1, 0, 0};
  NcclInit init;
  REQUIRE(decode_nccl_init_push("ncclCommInitRankConfig", payload, 12, init));
  CHECK((init.rank == 3 && init.ranks == 8 && init.device == 1 && init.communicator == 0));
  CHECK_FALSE(decode_nccl_init_push("ncclCommInitRank", payload, 16, init));
  CHECK_FALSE(decode_nccl_init_push("ncclCommInitRank", nullptr, 12, init));
  CHECK_FALSE(decode_nccl_init_push("ncclCommDestroy", payload, 12, init));
}

TEST_CASE("inits since 2.25: with the pop") {
  const struct {
    std::uint64_t communicator;
    std::int32_t ranks, rank, device, padding;
  } payload{0x55, 16, 9, 2, 0};
  for (const std::uint64_t schema : {0, 11, 12}) {
    NcclInit init;
    REQUIRE(decode_nccl_init_pop(kSchemas + schema, &payload, sizeof(payload), init));
    CHECK((init.communicator == 0x55 && init.ranks == 16 && init.rank == 9 && init.device == 2));
  }
  NcclInit all;
  REQUIRE(decode_nccl_init_pop(kSchemas + 1, &payload, 16, all));
  CHECK((all.communicator == 0x55 && all.ranks == 16 && all.rank == -1));
}

TEST_CASE("a split tells of its parent's ranks, not of its own; a shrink tells nothing") {
  const struct {
    std::uint64_t communicator, parent;
    std::int32_t ranks, rank, device, color, key;
  } payload{0x66, 0x55, 16, 9, 2, 1, 4};
  NcclInit init;
  REQUIRE(decode_nccl_init_pop(kSchemas + 13, &payload, sizeof(payload), init));
  CHECK((init.communicator == 0x66 && init.parent == 0x55 && init.color == 1 && init.key == 4 && init.device == 2));
  CHECK((init.rank == -1 && init.ranks == -1 && init.parent_rank == 9));
  CHECK_FALSE(decode_nccl_init_pop(kSchemas + 15, &payload, 32, init));
  NcclInit grown;
  REQUIRE(decode_nccl_init_pop(kSchemas + 20, &payload, 32, grown));
  CHECK((grown.parent == 0x55 && grown.ranks == 16 && grown.rank == 9));
}

TEST_CASE("an init payload that is too short is none") {
  const char bytes[64] = {};
  for (std::uint64_t schema = 0; schema < 40; ++schema) {
    for (std::size_t size = 0; size < 12; ++size) {
      NcclInit init;
      CHECK_FALSE(decode_nccl_init_pop(kSchemas + schema, bytes, size, init));
      CHECK_FALSE(decode_nccl_init_pop(schema, bytes, size, init));
    }
  }
}
