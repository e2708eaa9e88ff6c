// Records NCCL's calls and communicators from its NVTX ranges (nccl_payload.h) and, if NCCL is interposed, from its
// arguments. One call of the program is one record, whichever source reports it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/base/guard.h"
#include "agent/nccl/nccl_payload.h"
#include "agent/nvtx/nvtx_names.h"

namespace agent {

// The interposed call that this thread is in. NVTX events during it belong to the same call.
struct InterposedCall {
  std::string_view name;
  const NcclOperation* operation = nullptr;  // null if it is no call that moves data
  // From the arguments; `has` contains the known members.
  trace::NcclCallRecord arguments{};
  std::uint64_t made_communicator = 0;  // for an init: its name if NCCL's payload contains none
  bool written = false;                 // a record of this call is in the file
  bool seen_by_nvtx = false;            // its range was pushed, so its pop will come
  bool* identified = nullptr;           // for an init: set when NCCL's payload has described the communicator
};
inline thread_local InterposedCall* t_interposed __attribute__((tls_model("initial-exec"))) = nullptr;

// Handles a push in NCCL's domain. Returns false for an ordinary range, which is no call that moves data.
bool nccl_push(const Guard& guard, const Domain* domain, std::string_view name, const void* payload,
               std::size_t bytes) noexcept;

// Handles the payload of the pop of ncclCommInitRank and similar functions.
void nccl_pop_payload(const Guard& guard, std::uint64_t schema, const void* payload, std::size_t bytes) noexcept;

// Called only by the interposer: writes the record of a call (or the range of a group or an init), and its end.
void nccl_call_begins(const Guard& guard, InterposedCall& call) noexcept;
void nccl_call_ends(const Guard& guard, const InterposedCall& call) noexcept;

// Records a new communicator. Opens the recording.
void nccl_communicator_made(const Guard& guard, const NcclInit& init) noexcept;

// Writes the version of the loaded NCCL into the file's header, once.
void describe_nccl() noexcept;

// The first version whose payloads contain the communicator.
inline constexpr int kFirstWithCommunicator = 22500;

}  // namespace agent
