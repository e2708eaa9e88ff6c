// Interposers of NCCL's calls, with NCCL's own names: they pass the call on to the caller's library and record its
// arguments. The caller is the code at the return address. Code that reaches nccl* by a tail call (`return
// ncclSend(...)`, optimised to a jump) is resolved as its own caller, and the call goes to that caller's library. The
// result differs only if several copies of NCCL are loaded and the two objects are bound to different ones.
#include "agent/base/guard.h"
#include "agent/hooks/nccl_communicators.h"
#include "agent/hooks/nccl_libraries.h"
#include "agent/nccl/nccl.h"
#include "agent/ring/recorder.h"

// NCCL's own types are pointers, ints and this struct; ncclResult_t is an int.
struct NcclUniqueId {
  char bytes[128];
};

namespace agent {
namespace {

enum NcclResult : int { kNcclSuccess = 0, kNcclSystemError = 2, kNcclInProgress = 7 };

// Marks one call. NVTX ranges that begin on this thread before the destructor belong to it. If the agent receives the
// NVTX ranges of the library, it makes records from them. Otherwise it makes records here, before it passes the call on.
class InsideNccl {
 public:
  InsideNccl(NcclLibrary& library, InterposedCall& call) noexcept : library_(library), call_(call) {
    const Guard guard;
    if (!guard) return;
    entered_ = true;
    t_interposed = &call;
    if (!library.speaks_nvtx.load(std::memory_order_relaxed)) nccl_call_begins(guard, call);
  }
  ~InsideNccl() {
    if (!entered_) return;
    t_interposed = nullptr;
    const Guard guard;
    if (!guard) return;
    library_.speaks_nvtx.store(call_.seen_by_nvtx, std::memory_order_relaxed);
    // NCCL names the communicator in each call, even if it did not report its creation, so it needs no second name.
    const bool names_itself = call_.seen_by_nvtx && library_.version >= kFirstWithCommunicator;
    if (names_itself && call_.identified != nullptr) *call_.identified = true;
    if (!call_.seen_by_nvtx && !call_.written) nccl_call_begins(guard, call_);
    nccl_call_ends(guard, call_);
  }
  InsideNccl(InsideNccl&&) = delete;

 private:
  NcclLibrary& library_;
  InterposedCall& call_;
  bool entered_ = false;
};

// Returns the library's function with its type; prints a line and returns null if there is none.
template <typename... Arguments>
auto function_of(const NcclLibrary* library, NcclFunction function, const void* caller, Arguments...) noexcept {
  using Function = int (*)(Arguments...);
  auto* found = library != nullptr ? reinterpret_cast<Function>(library->functions[function]) : nullptr;
  if (found == nullptr) say_unresolved(function, caller);
  return found;
}

// Passes a call on. `describe(InterposedCall&)` sets the members that follow from the arguments, if the call is
// recorded. Calls that NCCL itself makes through us are not recorded.
template <typename Describe, typename... Arguments>
int pass_on(NcclFunction function, const void* caller, const Describe& describe, Arguments... arguments) noexcept {
  NcclLibrary* library = nccl_library_of(caller);
  auto* next = function_of(library, function, caller, arguments...);
  if (next == nullptr) return kNcclSystemError;
  if (!library->active || t_interposed != nullptr) return next(arguments...);
  InterposedCall call;
  call.name = nccl_function_name(function);
  describe(call);
  const InsideNccl inside(*library, call);
  return next(arguments...);
}

// Returns the size of an ncclDataType_t; 0 if unknown.
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
    record.has = static_cast<std::uint8_t>(trace::kHasDataType | trace::kHasStream | member |
                                           (record.communicator != 0 ? trace::kHasCommunicator : 0) |
                                           (bytes_of(type) != 0 ? trace::kHasBytes : 0));
  }
};

constexpr auto kPeerAndOp = static_cast<trace::NcclHas>(trace::kHasPeer | trace::kHasReductionOp);

bool is_made(int result) { return result == kNcclSuccess || result == kNcclInProgress; }

void made(void** handle, const NamedCommunicator& named) {
  if (handle == nullptr) return;
  if (*handle != nullptr) return name_communicator(*handle, named);
  name_at_group_end(handle, named);
}

// Passes the creation of a communicator on. `init` provides what NCCL's own payload did not contain; `named` provides
// the names of its handles.
template <typename Named, typename... Arguments>
int pass_on_init(NcclFunction function, const void* caller, const NcclInit& init, const Named& named,
                 Arguments... arguments) noexcept {
  bool recorded = false, identified = false;
  const auto describe = [&](InterposedCall& call) {
    call.made_communicator = init.communicator;
    call.identified = &identified;
    recorded = true;
  };
  const int result = pass_on(function, caller, describe, arguments...);
  if (!recorded || !is_made(result)) return result;
  const Guard guard;
  if (!guard) return result;
  named();
  if (!identified) nccl_communicator_made(guard, init);
  return result;
}

NcclInit init_of(const NcclUniqueId& id, int ranks, int rank) {
  return {.communicator = hash_unique_id(id.bytes, sizeof(id.bytes)), .rank = rank, .ranks = ranks};
}

}  // namespace
}  // namespace agent

#define TRACETOOL_NCCL_ENTRY extern "C" __attribute__((visibility("default"))) int
#define TRACETOOL_CALLER __builtin_return_address(0)

using namespace agent;

TRACETOOL_NCCL_ENTRY ncclAllReduce(const void* send, void* receive, std::size_t count, int type, int op,
                                   void* communicator, void* stream) {
  return pass_on(kAllReduce, TRACETOOL_CALLER,
                 DataCall{count, type, communicator, stream, trace::kHasReductionOp, 0, op}, send, receive, count, type,
                 op, communicator, stream);
}

TRACETOOL_NCCL_ENTRY ncclBroadcast(const void* send, void* receive, std::size_t count, int type, int root,
                                   void* communicator, void* stream) {
  return pass_on(kBroadcast, TRACETOOL_CALLER, DataCall{count, type, communicator, stream, trace::kHasPeer, root}, send,
                 receive, count, type, root, communicator, stream);
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
  return pass_on(kReduceScatter, TRACETOOL_CALLER,
                 DataCall{count, type, communicator, stream, trace::kHasReductionOp, 0, op}, send, receive, count, type,
                 op, communicator, stream);
}

TRACETOOL_NCCL_ENTRY ncclSend(const void* send, std::size_t count, int type, int peer, void* communicator,
                              void* stream) {
  return pass_on(kSend, TRACETOOL_CALLER, DataCall{count, type, communicator, stream, trace::kHasPeer, peer}, send,
                 count, type, peer, communicator, stream);
}

TRACETOOL_NCCL_ENTRY ncclRecv(void* receive, std::size_t count, int type, int peer, void* communicator, void* stream) {
  return pass_on(kRecv, TRACETOOL_CALLER, DataCall{count, type, communicator, stream, trace::kHasPeer, peer}, receive,
                 count, type, peer, communicator, stream);
}

// Interposers of NCCL's calls that create and destroy communicators, with NCCL's own names, and of its groups, at whose
// end communicators created in them exist.
TRACETOOL_NCCL_ENTRY ncclCommInitRank(void** handle, int ranks, NcclUniqueId id, int rank) {
  const NcclInit init = init_of(id, ranks, rank);
  return pass_on_init(
      kCommInitRank, TRACETOOL_CALLER, init,
      [&] {
        made(handle, {init.communicator, rank});
      },
      handle, ranks, id, rank);
}

TRACETOOL_NCCL_ENTRY ncclCommInitRankConfig(void** handle, int ranks, NcclUniqueId id, int rank, void* config) {
  const NcclInit init = init_of(id, ranks, rank);
  return pass_on_init(
      kCommInitRankConfig, TRACETOOL_CALLER, init,
      [&] {
        made(handle, {init.communicator, rank});
      },
      handle, ranks, id, rank, config);
}

TRACETOOL_NCCL_ENTRY ncclCommInitAll(void** handles, int devices, const int* list) {
  const NcclInit init{.communicator = hash_private(), .rank = devices == 1 ? 0 : -1, .ranks = devices};
  const auto name_all = [&] {
    for (int i = 0; handles != nullptr && i < devices; ++i) made(handles + i, {init.communicator, i});
  };
  return pass_on_init(kCommInitAll, TRACETOOL_CALLER, init, name_all, handles, devices, list);
}

TRACETOOL_NCCL_ENTRY ncclCommSplit(void* parent, int color, int key, void** handle, void* config) {
  constexpr int kNoColor = -1;  // this rank takes part and gets no communicator
  const NamedCommunicator known = named_communicator(parent);
  NcclInit init{.parent = known.name, .color = color, .key = key, .parent_rank = known.rank};
  if (known.name != 0) init.communicator = hash_split(known.name, count_split(parent), color);
  const auto name = [&] {
    if (color != kNoColor) made(handle, {init.communicator, -1});
  };
  if (color != kNoColor && known.name != 0)
    return pass_on_init(kCommSplit, TRACETOOL_CALLER, init, name, parent, color, key, handle, config);
  return pass_on(
      kCommSplit, TRACETOOL_CALLER, [](InterposedCall&) {}, parent, color, key, handle, config);
}

TRACETOOL_NCCL_ENTRY ncclCommDestroy(void* communicator) {
  return pass_on(
      kCommDestroy, TRACETOOL_CALLER, [&](InterposedCall&) { name_communicator(communicator, {}); }, communicator);
}

TRACETOOL_NCCL_ENTRY ncclCommAbort(void* communicator) {
  return pass_on(
      kCommAbort, TRACETOOL_CALLER, [&](InterposedCall&) { name_communicator(communicator, {}); }, communicator);
}

// Counts only recorded calls: only these make communicators that are awaited. Groups within NCCL do not matter.
TRACETOOL_NCCL_ENTRY ncclGroupStart() {
  bool recorded = false;
  const int result = pass_on(kGroupStart, TRACETOOL_CALLER, [&](InterposedCall&) { recorded = true; });
  if (recorded && result == kNcclSuccess) nccl_group_begins();
  return result;
}

TRACETOOL_NCCL_ENTRY ncclGroupEnd() {
  bool recorded = false;
  const int result = pass_on(kGroupEnd, TRACETOOL_CALLER, [&](InterposedCall&) { recorded = true; });
  if (recorded) nccl_group_ends(is_made(result));
  return result;
}
