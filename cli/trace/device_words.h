// Numbers of CUPTI, NVTX and NCCL as Kineto and NCCL's users spell them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/layout.h"
#include "common/record.h"

namespace cli {

constexpr bool is_host_memory(std::uint8_t memory) { return memory == 1 || memory == 2; }    // CUpti_ActivityMemoryKind
constexpr bool is_device_memory(std::uint8_t memory) { return memory == 3 || memory == 4 || memory == 6; }
std::string_view memory_name(std::uint8_t memory);                             // CUpti_ActivityMemoryKind
std::string_view copy_direction(std::uint8_t copy);                              // "HtoD", of CUpti_ActivityMemcpyKind
std::string copy_name(std::uint8_t copy, std::uint8_t from, std::uint8_t to);  // "Memcpy HtoD (Pinned -> Device)"
std::string set_name(std::uint8_t memory);                                     // "Memset (Device)"
std::string_view sync_name(std::uint8_t type);                                 // "Stream Wait Event"
std::string_view launch_type_name(std::uint8_t type);                          // "cooperative"
std::string_view overhead_name(std::uint32_t overhead);                        // "Lazy Function Loading"
std::string_view memory_operation(std::uint8_t operation);                     // "Allocate"
std::string_view pool_operation(std::uint8_t operation);                       // "Memory pool created"
std::string_view word(trace::NoticeCode code);                                 // "gap": as NoticeCode spells it
std::string_view word(trace::SourceState state);                               // "taken": as SourceState spells it
std::string_view reduction_name(std::uint32_t reduction);                      // "avg", of ncclRedOp_t; "": unknown
std::string_view nccl_type_name(std::uint32_t type);                           // "ncclFloat32"; "": unknown

}  // namespace cli
