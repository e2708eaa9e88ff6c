// Words for the numeric codes of CUPTI, NVTX and NCCL, and for states.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/layout.h"
#include "common/record.h"

// States, and their words in tables and JSON.
namespace cli {

// State of a recording (common/FORMAT.md). Kineto files are clean, or recovered if they are damaged.
enum class RecordingState : std::uint8_t { unknown, live, clean, recovered };

// The source of a rank number. device_order: the processes of one Nsight Systems report, in the order of their GPUs.
enum class RankSource : std::uint8_t { unknown, content, file_name, option, device_order };

enum class RecordingMode : std::uint8_t { unknown, ring, spool };

namespace words {
inline constexpr std::string_view kStates[] = {"unknown", "live", "clean", "recovered"};
inline constexpr std::string_view kRankSources[] = {"", "content", "file name", "--rank", "device order"};
inline constexpr std::string_view kModes[] = {"", "ring", "spool"};

// Returns the first word for values that this version does not have.
template <std::size_t Size, typename State>
constexpr std::string_view of(const std::string_view (&words)[Size], State state) {
  const auto index = static_cast<std::size_t>(state);
  return words[index < Size ? index : 0];
}
}  // namespace words

constexpr std::string_view word(RecordingState state) { return words::of(words::kStates, state); }
constexpr std::string_view word(RankSource source) { return words::of(words::kRankSources, source); }
constexpr std::string_view word(RecordingMode mode) { return words::of(words::kModes, mode); }

// Codes of CUPTI, NVTX and NCCL, spelled as Kineto and NCCL's users do.
constexpr bool is_host_memory(std::uint8_t memory) { return memory == 1 || memory == 2; }  // CUpti_ActivityMemoryKind
constexpr bool is_device_memory(std::uint8_t memory) { return memory == 3 || memory == 4 || memory == 6; }
std::string_view memory_name(std::uint8_t memory);  // CUpti_ActivityMemoryKind
// "HtoD"; takes a CUpti_ActivityMemcpyKind
std::string_view copy_direction(std::uint8_t copy);
std::string copy_name(std::uint8_t copy, std::uint8_t from, std::uint8_t to);  // "Memcpy HtoD (Pinned -> Device)"
std::string set_name(std::uint8_t memory);                                     // "Memset (Device)"
std::string_view sync_name(std::uint8_t type);                                 // "Stream Wait Event"
std::string_view launch_type_name(std::uint8_t type);                          // "cooperative"
std::string_view overhead_name(std::uint32_t overhead);                        // "Lazy Function Loading"
std::string_view memory_operation(std::uint8_t operation);                     // "Allocate"
std::string_view pool_operation(std::uint8_t operation);                       // "Memory pool created"
std::string_view word(trace::NoticeCode code);                                 // "gap": spelled as in NoticeCode
std::string_view word(trace::SourceState state);                               // "taken": spelled as in SourceState
// "avg"; takes a ncclRedOp_t; "" if unknown
std::string_view reduction_name(std::uint32_t reduction);
std::string_view nccl_type_name(std::uint32_t type);  // "ncclFloat32"; "" if unknown

}  // namespace cli
