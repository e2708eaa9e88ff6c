#include "agent/nccl/nccl_payload.h"

#include <cstring>

namespace agent {
namespace {

using trace::NcclClass;

constexpr NcclOperation kCalls[] = {
    {"ncclAllReduce", NcclClass::collective, {trace::kHasReductionOp, 0}},
    {"ncclReduceScatter", NcclClass::collective, {trace::kHasReductionOp, 0}},
    {"ncclAllGather", NcclClass::collective, {0, 0}},
    {"ncclBroadcast", NcclClass::collective, {trace::kHasPeer, 0}},
    {"ncclSend", NcclClass::send, {trace::kHasPeer, 0}},
    {"ncclRecv", NcclClass::receive, {trace::kHasPeer, 0}},
    {"ncclReduce", NcclClass::collective, {trace::kHasPeer, trace::kHasReductionOp}},
    {"ncclAlltoAll", NcclClass::collective, {0, 0}},
    {"ncclGather", NcclClass::collective, {trace::kHasPeer, 0}},
    {"ncclScatter", NcclClass::collective, {trace::kHasPeer, 0}},
};

// Schema numbers of what makes communicators, from 1 << 24 on; stable since they exist.
enum Schema : std::uint64_t {
  kInitRank = 0,
  kInitAll = 1,
  kInitRankConfig = 11,
  kInitRankScalable = 12,
  kSplit = 13,
  kGrow = 20,
};
constexpr std::uint64_t kFirstSchema = 1u << 24;

// Reads members of a payload in turn; beyond its end they are what they were.
class Members {
 public:
  Members(const void* payload, std::size_t bytes) : at_(static_cast<const char*>(payload)), left_(bytes) {}

  template <typename T>
  Members& operator>>(T& value) {
    if (left_ < sizeof(value)) return *this;
    std::memcpy(&value, at_, sizeof(value));
    at_ += sizeof(value);
    left_ -= sizeof(value);
    return *this;
  }

 private:
  const char* at_;
  std::size_t left_;
};

bool makes_communicator(std::string_view name) {
  return name == "ncclCommInitRank" || name == "ncclCommInitRankConfig" || name == "ncclCommInitRankScalable";
}

// All ranks of it are in this process, one per device.
void decode_init_all(Members& members, NcclInit& init) {
  members >> init.communicator >> init.ranks;
  if (init.ranks == 1) init.rank = 0;
}

void decode_split(Members& members, NcclInit& init) {
  std::int32_t parent_ranks;
  members >> init.communicator >> init.parent >> parent_ranks >> init.parent_rank >> init.device >> init.color >>
      init.key;
}

std::size_t least_bytes(std::uint64_t schema) {
  switch (schema) {
    case kInitRank:
    case kInitRankConfig:
    case kInitRankScalable: return 20;
    case kInitAll: return 12;
    case kSplit: return 36;
    case kGrow: return 28;
    default: return SIZE_MAX;
  }
}

}  // namespace

const NcclOperation* find_nccl_operation(std::string_view name) noexcept {
  for (const NcclOperation& operation : kCalls) {
    if (operation.name == name) return &operation;
  }
  return nullptr;
}

// Padded to 8 bytes as the C struct is.
void decode_nccl_call(trace::NcclCallRecord& record, const NcclOperation& operation, const void* payload,
                      std::size_t bytes) noexcept {
  const std::size_t count = static_cast<std::size_t>(operation.members[0] != 0) + (operation.members[1] != 0);
  const std::size_t tail = (count * 4 + 7) / 8 * 8;
  if (payload == nullptr || (bytes != 16 + tail && bytes != 8 + tail)) return;
  Members members(payload, bytes);
  if (bytes == 16 + tail) {
    members >> record.communicator;
    record.has |= trace::kHasCommunicator;
  }
  members >> record.bytes;
  record.has |= trace::kHasBytes;
  for (std::size_t i = 0; i < count; ++i) {
    members >> (operation.members[i] == trace::kHasPeer ? record.peer : record.reduction_op);
    record.has |= operation.members[i];
  }
}

bool decode_nccl_init_push(std::string_view name, const void* payload, std::size_t bytes, NcclInit& init) noexcept {
  if (payload == nullptr || bytes != 12 || !makes_communicator(name)) return false;
  Members(payload, bytes) >> init.rank >> init.ranks >> init.device;
  return true;
}

bool decode_nccl_init_pop(std::uint64_t schema, const void* payload, std::size_t bytes, NcclInit& init) noexcept {
  schema -= kFirstSchema;
  if (payload == nullptr || bytes < least_bytes(schema)) return false;
  Members members(payload, bytes);
  if (schema == kInitAll) {
    decode_init_all(members, init);
  } else if (schema == kSplit) {
    decode_split(members, init);
  } else {
    members >> init.communicator;
    if (schema == kGrow) members >> init.parent;
    members >> init.ranks >> init.rank >> init.device;
  }
  return true;
}

}  // namespace agent
