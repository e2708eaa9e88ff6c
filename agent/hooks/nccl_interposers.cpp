// NCCL's calls that move data, under NCCL's own names.
#include "agent/hooks/nccl_interposers.h"

#include "agent/hooks/nccl_communicators.h"

namespace agent {
namespace {

// Bytes of an ncclDataType_t; 0: one that we do not know.
std::size_t bytes_of(int type) {
  constexpr std::uint8_t kBytesOf[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && static_cast<std::size_t>(type) < sizeof(kBytesOf) ? kBytesOf[type] : 0;
}

struct DataCall {
  std::size_t count;
  int type;
  const void* communicator;
  const void* stream;
  trace::NcclHas member = trace::NcclHas{};  // kHasPeer, kHasReductionOp, both or none
  int peer = 0;
  int reduction_op = 0;

  void operator()(InterposedCall& call) const {
    call.operation = find_nccl_operation(call.name);
    trace::NcclCallRecord& record = call.arguments;
    record.communicator = named_communicator(communicator).name;
    record.bytes = count * bytes_of(type);
    record.peer = static_cast<std::uint32_t>(peer);
    record.reduction_op = static_cast<std::uint32_t>(reduction_op);
    record.data_type = static_cast<std::uint32_t>(type);
    record.count = count;
    record.stream = reinterpret_cast<std::uint64_t>(stream);
    record.has = static_cast<std::uint8_t>(trace::kHasDataType | trace::kHasStream | member | (record.communicator != 0 ? trace::kHasCommunicator : 0) |
                                           (bytes_of(type) != 0 ? trace::kHasBytes : 0));
  }
};

constexpr auto kPeerAndOp = static_cast<trace::NcclHas>(trace::kHasPeer | trace::kHasReductionOp);

}  // namespace

// A library whose ranges reach us makes its records itself; another's are made here, before the call is passed on.
InsideNccl::InsideNccl(NcclLibrary& library, InterposedCall& call) noexcept : library_(library), call_(call) {
  const Guard guard;
  if (!guard) return;
  entered_ = true;
  t_interposed = &call;
  if (!library.speaks_nvtx.load(std::memory_order_relaxed)) nccl_call_begins(guard, call);
}

InsideNccl::~InsideNccl() {
  if (!entered_) return;
  t_interposed = nullptr;
  const Guard guard;
  if (!guard) return;
  library_.speaks_nvtx.store(call_.seen_by_nvtx, std::memory_order_relaxed);
  // It names what it makes in each call, whether or not it told of this one: no second name for it.
  const bool names_itself = call_.seen_by_nvtx && library_.version >= kFirstWithCommunicator;
  if (names_itself && call_.identified != nullptr) *call_.identified = true;
  if (!call_.seen_by_nvtx && !call_.written) nccl_call_begins(guard, call_);
  nccl_call_ends(guard, call_);
}

}  // namespace agent

using namespace agent;

TRACETOOL_NCCL_ENTRY ncclAllReduce(const void* send, void* receive, std::size_t count, int type, int op,
                                  void* communicator, void* stream) {
  return pass_on(kAllReduce, TRACETOOL_CALLER, DataCall{count, type, communicator, stream, trace::kHasReductionOp, 0, op}, send,
                 receive, count, type, op, communicator, stream);
}

TRACETOOL_NCCL_ENTRY ncclBroadcast(const void* send, void* receive, std::size_t count, int type, int root,
                                  void* communicator, void* stream) {
  return pass_on(kBroadcast, TRACETOOL_CALLER, DataCall{count, type, communicator, stream, trace::kHasPeer, root}, send, receive,
                 count, type, root, communicator, stream);
}

TRACETOOL_NCCL_ENTRY ncclReduce(const void* send, void* receive, std::size_t count, int type, int op, int root,
                               void* communicator, void* stream) {
  return pass_on(kReduce, TRACETOOL_CALLER, DataCall{count, type, communicator, stream, kPeerAndOp, root, op}, send,
                 receive, count, type, op, root, communicator, stream);
}

TRACETOOL_NCCL_ENTRY ncclAllGather(const void* send, void* receive, std::size_t count, int type, void* communicator,
                                  void* stream) {
  return pass_on(kAllGather, TRACETOOL_CALLER, DataCall{count, type, communicator, stream}, send, receive, count, type,
                 communicator, stream);
}

TRACETOOL_NCCL_ENTRY ncclReduceScatter(const void* send, void* receive, std::size_t count, int type, int op,
                                      void* communicator, void* stream) {
  return pass_on(kReduceScatter, TRACETOOL_CALLER, DataCall{count, type, communicator, stream, trace::kHasReductionOp, 0, op},
                 send, receive, count, type, op, communicator, stream);
}

TRACETOOL_NCCL_ENTRY ncclSend(const void* send, std::size_t count, int type, int peer, void* communicator,
                             void* stream) {
  return pass_on(kSend, TRACETOOL_CALLER, DataCall{count, type, communicator, stream, trace::kHasPeer, peer}, send, count, type,
                 peer, communicator, stream);
}

TRACETOOL_NCCL_ENTRY ncclRecv(void* receive, std::size_t count, int type, int peer, void* communicator, void* stream) {
  return pass_on(kRecv, TRACETOOL_CALLER, DataCall{count, type, communicator, stream, trace::kHasPeer, peer}, receive, count,
                 type, peer, communicator, stream);
}
