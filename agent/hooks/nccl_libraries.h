// Finds the libnccl of a call. Our exported nccl* functions precede all others in a process that preloads us, so each
// call has to be passed on to the library that its caller would have reached without the agent. PyTorch loads its
// libraries with RTLD_LOCAL, so RTLD_NEXT finds nothing, and two copies of NCCL in one process must each get their own
// communicators. The search order is that of the loader:
//   1. the process's global scope;
//   2. the symbols of the caller's object and of the libraries that it needs;
//   3. the only libnccl that is loaded, or the one reached by an object that needs the caller's.
// The function searched is ncclGetVersion. We do not export it, so no other copy of the agent is ever found.
#pragma once
#include <atomic>
#include <cstddef>

namespace agent {

// Only functions that every NCCL since 2.18 has. A program that checks with the loader whether a newer function exists
// must not find ours.
enum NcclFunction : std::size_t {
  kAllReduce,
  kBroadcast,
  kReduce,
  kAllGather,
  kReduceScatter,
  kSend,
  kRecv,
  kGroupStart,
  kGroupEnd,
  kCommInitRank,
  kCommInitRankConfig,
  kCommInitAll,
  kCommSplit,
  kCommDestroy,
  kCommAbort,
  kNcclFunctions,
};

const char* nccl_function_name(NcclFunction function) noexcept;

// A libnccl of this process. It lives, and keeps the library loaded, until the process ends.
struct NcclLibrary {
  void* functions[kNcclFunctions];  // null if this version lacks it
  int version;                      // from ncclGetVersion; 0 if unknown
  bool active;                      // calls are recorded here; otherwise they are only passed on
  // Its NVTX ranges are received and recorded, with the arguments added; first guessed from the version, then from its
  // last call
  std::atomic<bool> speaks_nvtx;
};

// Returns the library of the code at `caller` (a return address); null if it cannot be found. Cached per object, by
// address.
NcclLibrary* nccl_library_of(const void* caller) noexcept;

// Reports once per function that a call was refused.
void say_unresolved(NcclFunction function, const void* caller) noexcept;

}  // namespace agent
