// Which libnccl a call belongs to. Our exported nccl* functions stand before every other in a process that preloads us,
// so each call must go on to the library that its caller would have reached without us: PyTorch loads its libraries
// RTLD_LOCAL, where RTLD_NEXT finds nothing, and two copies of NCCL in one process must each get their own
// communicators. In this order, as the loader searches:
//   1. the process's global scope;
//   2. what the caller's object and the libraries that it needs define;
//   3. the only libnccl that is loaded, or the one that an object which needs the caller's reaches.
// ncclGetVersion is what is looked for: we do not export it, so no other copy of the agent is ever found.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace agent {

// Only functions that every NCCL since 2.18 has: a program that asks the loader whether a newer one exists must not
// find ours.
enum NcclFunction : std::size_t {
  kAllReduce, kBroadcast, kReduce, kAllGather, kReduceScatter, kSend, kRecv, kGroupStart, kGroupEnd, kCommInitRank,
  kCommInitRankConfig, kCommInitAll, kCommSplit, kCommDestroy, kCommAbort, kNcclFunctions,
};

const char* nccl_function_name(NcclFunction function) noexcept;

// One libnccl of this process; lives, and keeps it loaded, until the process ends.
struct NcclLibrary {
  void* functions[kNcclFunctions];  // null: this version lacks it
  int version;                      // as ncclGetVersion says; 0: unknown
  bool active;                      // calls are recorded here; else they are only passed on
  std::atomic<bool> speaks_nvtx;    // its ranges reach us: they make the records, the arguments are added. At first
                                    // a guess by its version, then what its last call showed
};

// The library of the code at `caller` (a return address); null: it cannot be found. Cached per object, by address.
NcclLibrary* nccl_library_of(const void* caller) noexcept;

// Says once per function that a call was refused.
void say_unresolved(NcclFunction function, const void* caller) noexcept;

}  // namespace agent
