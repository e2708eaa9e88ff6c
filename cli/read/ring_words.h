// Numbers of CUPTI, NVTX and NCCL as Kineto and NCCL's users spell them, and fragments of JSON made of them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/record.h"

namespace cli {

std::string_view memory_name(std::uint8_t memory);                             // CUpti_ActivityMemoryKind
std::string copy_name(std::uint8_t copy, std::uint8_t from, std::uint8_t to);  // "Memcpy HtoD (Pinned -> Device)"
std::string_view sync_name(std::uint8_t type);                                 // "Stream Wait Event"
std::string_view launch_type_name(std::uint8_t type);                          // "cooperative"
std::string_view overhead_name(std::uint32_t overhead);                        // "Lazy Function Loading"
std::string_view memory_operation(std::uint8_t operation);                     // "Allocate"
std::string_view pool_operation(std::uint8_t operation);                       // "Memory pool created"
std::string_view notice_name(std::uint8_t code);                               // "gap": as NoticeCode spells it
std::string_view source_state(std::uint32_t state);                            // "taken": as SourceState spells it
std::string json_quoted(std::string_view text);

// Members of a JSON object, each with ", " before it where `args` holds something already.
void add_member(std::string& args, std::string_view key, std::string_view json_value);
// The payload of an NVTX event: a number of its own type; nothing where there is none.
void add_payload(std::string& args, std::uint8_t type, std::uint64_t payload);
// Communicator, epoch, ordinal, reduction and peer of an NCCL call, as far as they are known.
void add_nccl(std::string& args, const trace::NcclCallRecord& call);
void add_nccl(std::string& args, const trace::GraphNodeRecord& node);

}  // namespace cli
