#include "agent/nccl/nccl.h"

#include <cstring>

#include "agent/agent.h"
#include "agent/identity.h"
#include "agent/nccl/nccl_ordinals.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

enum Has : std::uint8_t { kCommunicator = 1, kBytes = 2, kReductionOp = 4, kPeer = 8 };

// The 32-bit members that follow the size, in order.
struct CallRow {
  std::string_view name;
  trace::NcclClass nccl_class;
  std::uint8_t members[2];
};

constexpr CallRow kCalls[] = {
    {"ncclAllReduce", trace::NcclClass::collective, {kReductionOp, 0}},
    {"ncclReduceScatter", trace::NcclClass::collective, {kReductionOp, 0}},
    {"ncclAllGather", trace::NcclClass::collective, {0, 0}},
    {"ncclAlltoAll", trace::NcclClass::collective, {0, 0}},
    {"ncclBroadcast", trace::NcclClass::collective, {kPeer, 0}},
    {"ncclReduce", trace::NcclClass::collective, {kPeer, kReductionOp}},
    {"ncclGather", trace::NcclClass::collective, {kPeer, 0}},
    {"ncclScatter", trace::NcclClass::collective, {kPeer, 0}},
    {"ncclSend", trace::NcclClass::send, {kPeer, 0}},
    {"ncclRecv", trace::NcclClass::receive, {kPeer, 0}},
};

const CallRow* find_call(std::string_view name) {
  for (const CallRow& row : kCalls) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

template <typename T>
T read_at(const void* payload, std::size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(payload) + offset, sizeof(value));
  return value;
}

// {communicator, bytes, members} since 2.25.1, {bytes, members} before; padded to 8 bytes as the C struct is.
void decode(trace::NcclCallRecord& record, const CallRow& row, const void* payload, std::size_t size) {
  const std::size_t members = (row.members[0] != 0) + (row.members[1] != 0);
  const std::size_t tail = (members * 4 + 7) / 8 * 8;
  if (payload == nullptr || (size != 16 + tail && size != 8 + tail)) return;
  std::size_t at = 0;
  if (size == 16 + tail) {
    record.communicator = read_at<std::uint64_t>(payload, 0);
    record.has |= kCommunicator;
    at = 8;
  }
  record.bytes = read_at<std::uint64_t>(payload, at);
  record.has |= kBytes;
  for (std::size_t i = 0; i < members; ++i) {
    const auto value = read_at<std::uint32_t>(payload, at + 8 + i * 4);
    (row.members[i] == kPeer ? record.peer : record.reduction_op) = value;
    record.has |= row.members[i];
  }
}

}  // namespace

bool record_nccl_call(const Guard& guard, const Domain* domain, std::string_view name, const void* payload,
                      std::size_t bytes) noexcept {
  const CallRow* row = find_call(name);
  if (row == nullptr) return false;
  if (!begin_recording(guard)) return true;
  auto record = trace::make_record<trace::NcclCallRecord>();
  record.nccl_class = static_cast<std::uint8_t>(row->nccl_class);
  record.tid = thread_id();
  record.time_mono_ns = mono_ns();
  decode(record, *row, payload, bytes);
  const CallOrdinal ordinal = next_ordinal(record.communicator, row->nccl_class, record.peer);
  // Before NCCL 2.25.1 calls of all communicators look alike.
  record.ordinal = (record.has & kCommunicator) != 0 ? ordinal.ordinal : kUnknownOrdinal;
  record.epoch = ordinal.epoch;
  HostWriter writer(guard, trace::RecordKind::nccl_call, sizeof(record), name.size() + domain->text.size());
  if (!writer) return true;
  record.name_ref = writer.name(name);
  record.domain_ref = writer.name(domain->name());
  writer.append(record);
  return true;
}

// Static schema ids are 1 << 24 plus NCCL's own number, stable since 2.21: 0 CommInitRank, 11 ...Config, 12
// ...Scalable.
void nccl_init_payload(const Guard& guard, std::uint64_t schema, const void* payload, std::size_t bytes) noexcept {
  constexpr std::uint64_t kStatic = 1u << 24;
  if (schema != kStatic && schema != kStatic + 11 && schema != kStatic + 12) return;
  if (payload == nullptr || bytes < 20 || !begin_recording(guard)) return;
  const auto communicator = read_at<std::uint64_t>(payload, 0);
  begin_epoch(communicator, read_at<std::int32_t>(payload, 12));
  record_nccl_identity(communicator, read_at<std::int32_t>(payload, 12), read_at<std::int32_t>(payload, 8),
                       read_at<std::int32_t>(payload, 16));
}

}  // namespace agent
