// NCCL's calls and communicators into the recording, from its NVTX ranges (nccl_payload.h) and, where NCCL is
// interposed, from its arguments. One call of the program is one record, whoever saw it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/base/guard.h"
#include "agent/nccl/nccl_payload.h"
#include "agent/nvtx/nvtx_names.h"

namespace agent {

// A call that the interposer is inside of, on this thread. What NVTX says meanwhile is the same call.
struct InterposedCall {
  std::string_view name;
  const NcclOperation* operation = nullptr;  // null: not a call that moves data
  // From the arguments; `has` says which are there.
  trace::NcclCallRecord arguments{};
  std::uint64_t made_communicator = 0;  // by an init: what we call it where NCCL's payload does not say
  bool written = false;                 // a record of this call is in the file
  bool seen_by_nvtx = false;            // its range was pushed, so its pop comes
  bool* identified = nullptr;           // of an init: set when NCCL has told of the communicator itself
};
inline thread_local InterposedCall* t_interposed __attribute__((tls_model("initial-exec"))) = nullptr;

// A push in NCCL's domain. False: not a call that moves data: an ordinary range.
bool nccl_push(const Guard& guard, const Domain* domain, std::string_view name, const void* payload,
               std::size_t bytes) noexcept;

// The payload that comes with the pop of ncclCommInitRank and its kin.
void nccl_pop_payload(const Guard& guard, std::uint64_t schema, const void* payload, std::size_t bytes) noexcept;

// From the interposer alone: the record of a call (or the range of a group or an init), and its end.
void nccl_call_begins(const Guard& guard, InterposedCall& call) noexcept;
void nccl_call_ends(const Guard& guard, const InterposedCall& call) noexcept;

// A communicator was made. Opens the recording.
void nccl_communicator_made(const Guard& guard, const NcclInit& init) noexcept;

// For the file's header, once: the version of the NCCL that is loaded.
void describe_nccl() noexcept;

// NCCL's payloads name the communicator from this version on.
inline constexpr int kFirstWithCommunicator = 22500;

}  // namespace agent
