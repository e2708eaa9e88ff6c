#include "agent/nccl/nccl_payload.h"

#include <atomic>
#include <cstring>

#include "common/hash.h"

namespace agent {
namespace {

// Space for sends and receives of eight communicators with a thousand ranks.
constexpr std::size_t kCounters = 16'384;
constexpr std::size_t kEpochs = 4096;
constexpr std::size_t kMostProbes = 64;

struct Entry {
  std::atomic<std::uint64_t> key;  // 0 if free
  std::atomic<std::uint64_t> next;
};

constinit Entry s_counters[kCounters]{};
constinit Entry s_epochs[kEpochs]{};

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t key = trace::spread(a ^ trace::spread(b) >> 7);
  key ^= key >> 31;
  return key != 0 ? key : 1;
}

// Found by linear probing and created at first use; null if the table is full there, which is permanent.
template <std::size_t kEntries>
Entry* entry(Entry (&table)[kEntries], std::uint64_t key) {
  for (std::size_t i = 0; i < kMostProbes; ++i) {
    Entry& at = table[(key + i) % kEntries];
    std::uint64_t known = at.key.load(std::memory_order_relaxed);
    if (known == key || (known == 0 && (at.key.compare_exchange_strong(known, key) || known == key))) return &at;
  }
  return nullptr;
}

// The value of a communicator in s_epochs: number of creations << 32 | rank + 1, or kManyRanks instead of the rank.
constexpr std::uint64_t kRankBits = 0xffffffff;
constexpr std::uint64_t kManyRanks = kRankBits;

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

// Schema numbers of ranges that make communicators, from 1 << 24 on; stable since they exist.
enum Schema : std::uint64_t {
  kInitRank = 0,
  kInitAll = 1,
  kInitRankConfig = 11,
  kInitRankScalable = 12,
  kSplit = 13,
  kGrow = 20,
};
constexpr std::uint64_t kFirstSchema = 1u << 24;

// Reads members of a payload in order; members beyond its end are unchanged.
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

std::size_t least_bytes(std::uint64_t schema) {
  if (schema == kInitRank || schema == kInitRankConfig || schema == kInitRankScalable) return 20;
  if (schema == kInitAll) return 12;
  return schema == kSplit ? 36 : schema == kGrow ? 28 : SIZE_MAX;
}

}  // namespace

CallOrdinal next_ordinal(std::uint64_t communicator, trace::NcclClass nccl_class, std::uint32_t peer) noexcept {
  const Entry* made = entry(s_epochs, mix(communicator, 0));
  if (made == nullptr) return {kUnknownOrdinal, 0};
  const std::uint64_t state = made->next.load();
  const std::uint64_t epoch = state >> 32;
  if ((state & kRankBits) == kManyRanks) return {kUnknownOrdinal, static_cast<std::uint32_t>(epoch)};
  const std::uint64_t pair = nccl_class == trace::NcclClass::collective ? 0 : std::uint64_t{peer} + 1;
  const std::uint64_t what = epoch << 40 | pair << 2 | static_cast<std::uint64_t>(nccl_class);
  Entry* counter = entry(s_counters, mix(communicator, what));
  const std::uint64_t ordinal = counter != nullptr ? counter->next.fetch_add(1) : kUnknownOrdinal;
  return {ordinal, static_cast<std::uint32_t>(epoch)};
}

std::uint32_t begin_epoch(std::uint64_t communicator, std::int32_t rank) noexcept {
  Entry* made = entry(s_epochs, mix(communicator, 0));
  if (made == nullptr) return 0;
  const std::uint64_t own = (static_cast<std::uint64_t>(rank) + 1) & kRankBits;
  std::uint64_t before = made->next.load();
  std::uint64_t after;
  do {
    const std::uint64_t known = before & kRankBits;
    after = known == 0 || known == own ? ((before >> 32) + 1) << 32 | own : (before & ~kRankBits) | kManyRanks;
  } while (!made->next.compare_exchange_weak(before, after));
  return static_cast<std::uint32_t>(after >> 32);
}

const NcclOperation* find_nccl_operation(std::string_view name) noexcept {
  for (const NcclOperation& operation : kCalls) {
    if (operation.name == name) return &operation;
  }
  return nullptr;
}

// Padded to 8 bytes like the C struct.
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
  const bool makes_communicator =
      name == "ncclCommInitRank" || name == "ncclCommInitRankConfig" || name == "ncclCommInitRankScalable";
  if (payload == nullptr || bytes != 12 || !makes_communicator) return false;
  Members(payload, bytes) >> init.rank >> init.ranks >> init.device;
  return true;
}

bool decode_nccl_init_pop(std::uint64_t schema, const void* payload, std::size_t bytes, NcclInit& init) noexcept {
  schema -= kFirstSchema;
  if (payload == nullptr || bytes < least_bytes(schema)) return false;
  Members members(payload, bytes);
  if (schema == kInitAll) {
    members >> init.communicator >> init.ranks;
    if (init.ranks == 1) init.rank = 0;  // all of its ranks are in this process, one per device
  } else if (schema == kSplit) {
    std::int32_t parent_ranks;
    members >> init.communicator >> init.parent >> parent_ranks >> init.parent_rank >> init.device >> init.color >>
        init.key;
  } else {
    members >> init.communicator;
    if (schema == kGrow) members >> init.parent;
    members >> init.ranks >> init.rank >> init.device;
  }
  return true;
}

}  // namespace agent
