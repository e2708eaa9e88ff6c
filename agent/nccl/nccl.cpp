#include "agent/nccl/nccl.h"

#include <dlfcn.h>

#include <atomic>

#include "agent/base/agent_settings.h"
#include "agent/base/life.h"
#include "agent/base/loaded_objects.h"
#include "agent/native/call_stacks.h"
#include "agent/nvtx/live_ranges.h"
#include "agent/nvtx/nvtx_events.h"
#include "agent/ring/recorder.h"
#include "agent/ring/trace_file.h"

namespace agent {
namespace {

// Adds data that only the arguments contain: everything if there was no payload, otherwise type, count and stream, and
// our own name of the communicator if NCCL gives none.
void add_arguments(trace::NcclCallRecord& record, const trace::NcclCallRecord& arguments) {
  const auto missing = static_cast<std::uint8_t>(arguments.has & ~record.has);
  if ((missing & trace::kHasCommunicator) != 0) record.communicator = arguments.communicator;
  if ((missing & trace::kHasBytes) != 0) record.bytes = arguments.bytes;
  if ((missing & trace::kHasReductionOp) != 0) record.reduction_op = arguments.reduction_op;
  if ((missing & trace::kHasPeer) != 0) record.peer = arguments.peer;
  record.data_type = arguments.data_type;
  record.count = arguments.count;
  record.stream = arguments.stream;
  record.has |= missing;
}

void append(const Guard& guard, const Domain* domain, const NcclOperation& operation, trace::NcclCallRecord& record) {
  const bool is_short = (record.has & (trace::kHasDataType | trace::kHasStream)) == 0;
  const std::size_t bytes = is_short ? offsetof(trace::NcclCallRecord, count) : sizeof(record);
  HostWriter writer(guard, trace::NcclCallRecord::kKind, sizeof(record), operation.name.size() + domain->text.size());
  if (!writer) return;
  record.size_words = static_cast<std::uint8_t>(bytes / 8);
  record.name_ref = writer.name(operation.name);
  record.domain_ref = writer.name(domain->name());
  writer.append(record, bytes);
}

// `record` contains the decoded members; the others are set here. It is numbered even if it is not wanted, because
// graph nodes contain the number.
void write_call(const Guard& guard, const Domain* domain, const NcclOperation& operation,
                trace::NcclCallRecord& record) {
  record.nccl_class = static_cast<std::uint8_t>(operation.nccl_class);
  record.tid = thread_id();
  record.time_mono_ns = mono_ns();
  const bool is_wanted =
      wants(trace::NcclCallRecord::kKind) && (recording() == Recording::open || begin_recording(guard));
  // Without a communicator (before NCCL 2.25.1, not interposed) calls of several communicators cannot be distinguished.
  const CallOrdinal ordinal = next_ordinal(record.communicator, operation.nccl_class, record.peer);
  record.ordinal = (record.has & trace::kHasCommunicator) != 0 ? ordinal.ordinal : kUnknownOrdinal;
  record.epoch = ordinal.epoch;
  OpenNcclCall open{record, operation.name};
  open.has &= trace::kHasCommunicator | trace::kHasBytes | trace::kHasReductionOp | trace::kHasPeer;
  nccl_call_opened(domain, open);
  if (!is_wanted) return;
  describe_nccl();
  append(guard, domain, operation, record);
  write_call_stack(guard, {.reason = trace::StackReason::nccl_call, .time_mono_ns = record.time_mono_ns});
}

const Domain* nccl_domain() { return make_domain("NCCL"); }

// Several ranks in this process cannot be distinguished by their calls; `rank` only shows whether there are several.
std::uint32_t begin_epoch_of(const NcclInit& init) {
  if (init.communicator == 0) return 0;
  if (init.rank < 0 && init.parent_rank < 0 && init.ranks > 1) begin_epoch(init.communicator, init.ranks);
  return begin_epoch(init.communicator, init.rank >= 0 ? init.rank : init.parent_rank);
}

void write_range(const Guard& guard, trace::RecordKind kind, const Domain* domain, std::string_view name) {
  NvtxEvent event{.kind = kind, .domain = domain, .name = name};
  nvtx_event(guard, event);
}

// NCCL has described the communicator it makes. Before 2.25, and inside a group, without its name.
void told_of(const Guard& guard, const InterposedCall* call, NcclInit& init) {
  if (call != nullptr && init.communicator == 0) init.communicator = call->made_communicator;
  if (call != nullptr && call->identified != nullptr) *call->identified = true;
  nccl_communicator_made(guard, init);
}

using GetVersion = int (*)(int*);

// From the first libnccl that is loaded, otherwise the one linked into the program. The function only returns a number.
GetVersion find_get_version() {
  ObjectPaths loaded{};
  objects_named("libnccl", loaded);
  for (std::size_t i = 0; i < loaded.count; ++i) {
    void* handle = handle_of(loaded.paths[i]);
    void* found = handle != nullptr ? symbol_in(handle, "ncclGetVersion") : nullptr;
    if (found != nullptr) return reinterpret_cast<GetVersion>(found);
  }
  return reinterpret_cast<GetVersion>(symbol_in(RTLD_DEFAULT, "ncclGetVersion"));
}

}  // namespace

bool nccl_push(const Guard& guard, const Domain* domain, std::string_view name, const void* payload,
               std::size_t bytes) noexcept {
  InterposedCall* call = t_interposed != nullptr && t_interposed->name == name ? t_interposed : nullptr;
  if (call != nullptr) call->seen_by_nvtx = true;
  NcclInit init;
  if (decode_nccl_init_push(name, payload, bytes, init)) told_of(guard, call, init);
  if (call != nullptr && call->written) return true;
  const NcclOperation* operation = find_nccl_operation(name);
  if (operation == nullptr) return false;
  auto record = trace::make_record<trace::NcclCallRecord>();
  decode_nccl_call(record, *operation, payload, bytes);
  if (call != nullptr) add_arguments(record, call->arguments);
  if (call != nullptr) call->written = true;
  write_call(guard, domain, *operation, record);
  return true;
}

void nccl_pop_payload(const Guard& guard, std::uint64_t schema, const void* payload, std::size_t bytes) noexcept {
  NcclInit init;
  if (decode_nccl_init_pop(schema, payload, bytes, init)) told_of(guard, t_interposed, init);
}

void nccl_call_begins(const Guard& guard, InterposedCall& call) noexcept {
  const Domain* domain = nccl_domain();
  if (domain == nullptr) return;
  call.written = true;
  if (call.operation == nullptr) return write_range(guard, trace::NvtxPushRecord::kKind, domain, call.name);
  auto record = trace::make_record<trace::NcclCallRecord>();
  add_arguments(record, call.arguments);
  write_call(guard, domain, *call.operation, record);
}

void nccl_call_ends(const Guard& guard, const InterposedCall& call) noexcept {
  if (call.written && !call.seen_by_nvtx) write_range(guard, trace::NvtxPopRecord::kKind, nccl_domain(), {});
}

void nccl_communicator_made(const Guard& guard, const NcclInit& init) noexcept {
  if (!begin_recording(guard)) return;
  describe_nccl();
  auto record = trace::make_record<trace::CommunicatorRecord>();
  record.epoch = begin_epoch_of(init);
  record.rank = init.rank;
  record.ranks = init.ranks;
  record.device = init.device;
  record.communicator = init.communicator;
  record.parent = init.parent;
  record.color = init.color;
  record.key = init.key;
  record.time_mono_ns = mono_ns();
  if (!define(record, kIdentityReserve)) count_lost(trace::CommunicatorRecord::kKind);
  if (init.rank >= 0) record_nccl_identity(init.communicator, init.rank, init.ranks, init.device);
}

// The NCCL version for the file's header.

void describe_nccl() noexcept {
  static constinit std::atomic<bool> s_known{false};
  if (recording() != Recording::open || s_known.load(std::memory_order_relaxed) || s_known.exchange(true)) return;
  int version = 0;
  const GetVersion get_version = find_get_version();
  if (get_version == nullptr || get_version(&version) != 0) version = 0;
  __atomic_store_n(&ring().header->nccl_version, static_cast<std::uint32_t>(version), __ATOMIC_RELAXED);
}

}  // namespace agent
