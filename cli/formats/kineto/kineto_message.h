// What a call of NCCL moves, by the names of PyTorch's profiler (appendCollectiveArgs in libkineto's output_json.cpp).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/formats/kineto/kineto_groups.h"
#include "cli/trace/event.h"

namespace cli {

struct KinetoMessage {
  std::string_view call;               // ours: "ncclAllGather"
  std::string_view type;               // PyTorch's, "" where the recording does not tell it
  std::uint64_t count = 0;             // elements of `type` in the message of one rank
  std::optional<std::uint64_t> bytes;  // of the message of one rank
  std::uint64_t communicator = 0;
};

// Of a call: its name, facts and bytes; of a kernel in a CUDA graph: those of the call that it was captured in. Nothing
// where it is no operation that Kineto knows, or the communicator or the size is unknown.
std::optional<KinetoMessage> message_of_call(std::string_view call, const Event& event, const Facts& facts);
std::optional<KinetoMessage> message_of_graph(const Catalog& catalog, CaptureId capture);

// Members of args, all of them or "". Where the call does not tell the type, the kernel's name does, of floating-point
// reductions (src/device/generate.py of NCCL 2.19 and newer); else elements are bytes, as NCCL moves them.
std::string kineto_members(const KinetoMessage& message, std::string_view kernel, const KinetoGroups& groups);

}  // namespace cli
