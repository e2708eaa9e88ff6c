// NCCL's calls that make and end communicators, under NCCL's own names, and its groups, at the end of which those that
// were made in them appear.
#include "agent/hooks/nccl_communicators.h"
#include "agent/hooks/nccl_interposers.h"
#include "agent/hooks/nccl_groups.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

bool is_made(int result) { return result == kNcclSuccess || result == kNcclInProgress; }

void made(void** handle, const NamedCommunicator& named) {
  if (handle == nullptr) return;
  if (*handle != nullptr) return name_communicator(*handle, named);
  name_at_group_end(handle, named);
}

// Passes the making of a communicator on. What NCCL's own payload did not tell of it is written from `init`; `named`
// gives its handles their name.
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
  NcclInit init;
  init.communicator = hash_unique_id(id.bytes, sizeof(id.bytes));
  init.ranks = ranks;
  init.rank = rank;
  return init;
}

}  // namespace
}  // namespace agent

using namespace agent;

TRACETOOL_NCCL_ENTRY ncclCommInitRank(void** handle, int ranks, NcclUniqueId id, int rank) {
  const NcclInit init = init_of(id, ranks, rank);
  return pass_on_init(kCommInitRank, TRACETOOL_CALLER, init, [&] { made(handle, {init.communicator, rank}); }, handle,
                      ranks, id, rank);
}

TRACETOOL_NCCL_ENTRY ncclCommInitRankConfig(void** handle, int ranks, NcclUniqueId id, int rank, void* config) {
  const NcclInit init = init_of(id, ranks, rank);
  return pass_on_init(kCommInitRankConfig, TRACETOOL_CALLER, init, [&] { made(handle, {init.communicator, rank}); },
                      handle, ranks, id, rank, config);
}

TRACETOOL_NCCL_ENTRY ncclCommInitAll(void** handles, int devices, const int* list) {
  NcclInit init;
  init.communicator = hash_private();
  init.ranks = devices;
  if (devices == 1) init.rank = 0;
  const auto name_all = [&] {
    for (int i = 0; handles != nullptr && i < devices; ++i) made(handles + i, {init.communicator, i});
  };
  return pass_on_init(kCommInitAll, TRACETOOL_CALLER, init, name_all, handles, devices, list);
}

TRACETOOL_NCCL_ENTRY ncclCommSplit(void* parent, int color, int key, void** handle, void* config) {
  constexpr int kNoColor = -1;  // this rank takes part and gets nothing
  const NamedCommunicator known = named_communicator(parent);
  NcclInit init;
  init.parent = known.name;
  init.parent_rank = known.rank;
  init.color = color;
  init.key = key;
  if (known.name != 0) init.communicator = hash_split(known.name, count_split(parent), color);
  const auto name = [&] {
    if (color != kNoColor) made(handle, {init.communicator, -1});
  };
  if (color != kNoColor && known.name != 0) {
    return pass_on_init(kCommSplit, TRACETOOL_CALLER, init, name, parent, color, key, handle, config);
  }
  return pass_on(kCommSplit, TRACETOOL_CALLER, [](InterposedCall&) {}, parent, color, key, handle, config);
}

TRACETOOL_NCCL_ENTRY ncclCommDestroy(void* communicator) {
  return pass_on(kCommDestroy, TRACETOOL_CALLER, [&](InterposedCall&) { name_communicator(communicator, {}); },
                 communicator);
}

TRACETOOL_NCCL_ENTRY ncclCommAbort(void* communicator) {
  return pass_on(kCommAbort, TRACETOOL_CALLER, [&](InterposedCall&) { name_communicator(communicator, {}); },
                 communicator);
}

// Only calls that are recorded count: what is awaited is made by such, and NCCL's own groups are its business.
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
