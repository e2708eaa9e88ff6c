// Numbers of CUPTI and NCCL as Kineto and NCCL's users spell them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/record.h"

namespace cli {

std::string_view memory_name(std::uint8_t memory);                             // CUpti_ActivityMemoryKind
std::string copy_name(std::uint8_t copy, std::uint8_t from, std::uint8_t to);  // "Memcpy HtoD (Pinned -> Device)"
std::string json_quoted(std::string_view text);
// The fragment of JSON that describes a call: communicator, ordinal, reduction, peer.
std::string nccl_args(const trace::NcclCallRecord& record);

}  // namespace cli
