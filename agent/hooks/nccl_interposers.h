// The common part of our nccl* functions: they pass the call on to the caller's library and record its arguments. The
// caller is the code at the return address. Code that reaches nccl* by a tail call (`return ncclSend(...)`, optimised
// to a jump) is resolved as its own caller, and the call goes to that caller's library. The result differs only if
// several copies of NCCL are loaded and the two objects are bound to different ones.
#pragma once
#include "agent/base/guard.h"
#include "agent/hooks/nccl_libraries.h"
#include "agent/nccl/nccl.h"

// NCCL's own types are pointers, ints and this struct; ncclResult_t is an int.
struct NcclUniqueId {
  char bytes[128];
};

namespace agent {

enum NcclResult : int { kNcclSuccess = 0, kNcclSystemError = 2, kNcclInProgress = 7 };

// Marks one call: during its lifetime, NVTX ranges on this thread belong to it.
class InsideNccl {
 public:
  InsideNccl(NcclLibrary& library, InterposedCall& call) noexcept;
  ~InsideNccl();
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

}  // namespace agent

#define TRACETOOL_NCCL_ENTRY extern "C" __attribute__((visibility("default"))) int
#define TRACETOOL_CALLER __builtin_return_address(0)
