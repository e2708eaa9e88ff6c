#include "cli/trace/words.h"

#include <fmt/format.h>

#include <iterator>

namespace cli {

namespace {

constexpr std::string_view kMemory[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                        "Array",   "Managed",  "Device Static", "Managed Static"};
constexpr std::string_view kCopy[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                      "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::string_view kSync[] = {"Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};
// Indexed by CUpti_ActivityLaunchType; the last word is for newer values.
constexpr std::string_view kLaunch[] = {"regular", "cooperative", "cooperative on several devices", "unknown"};
// Indexed by CUpti_ActivityOverheadKind >> 16; value 1 (not shifted) is the compiler.
constexpr std::string_view kOverhead[] = {"Unknown",
                                          "Buffer Flush",
                                          "Instrumentation",
                                          "Resource",
                                          "Runtime Triggered Module Loading",
                                          "Lazy Function Loading",
                                          "Command Buffer Full",
                                          "Activity Buffer Request",
                                          "UVM Activity Init"};
constexpr std::string_view kMemoryOperation[] = {"Memory operation", "Allocate", "Release"};
constexpr std::string_view kPoolOperation[] = {"Memory pool operation", "Memory pool created", "Memory pool destroyed",
                                               "Memory pool trimmed"};
constexpr std::string_view kNotice[] = {
    "notice",         "gap",         "fatal",   "reduced_to_light", "source_on", "clock_changed",
    "graphs_unknown", "spool_ended", "stalled", "reduced_to_steps", "hang",      "torch_unknown"};
constexpr std::string_view kState[] = {"off", "on", "failed", "taken"};
// Indexed by ncclRedOp_t and ncclDataType_t.
constexpr std::string_view kReduction[] = {"sum", "prod", "max", "min", "avg"};
constexpr std::string_view kDataType[] = {"ncclInt8",    "ncclUint8",    "ncclInt32",      "ncclUint32",
                                          "ncclInt64",   "ncclUint64",   "ncclFloat16",    "ncclFloat32",
                                          "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};

template <std::size_t Size>
std::string_view pick(const std::string_view (&words)[Size], std::size_t index) {
  return index < Size ? words[index] : words[0];
}

}  // namespace

std::string_view memory_name(std::uint8_t memory) { return pick(kMemory, memory); }
std::string_view sync_name(std::uint8_t type) { return pick(kSync, type); }
std::string_view launch_type_name(std::uint8_t type) { return kLaunch[type < 3 ? type : 3]; }
std::string_view memory_operation(std::uint8_t operation) { return pick(kMemoryOperation, operation); }
std::string_view pool_operation(std::uint8_t operation) { return pick(kPoolOperation, operation); }
std::string_view word(trace::NoticeCode code) { return pick(kNotice, static_cast<std::size_t>(code)); }
std::string_view word(trace::SourceState state) { return pick(kState, static_cast<std::size_t>(state)); }

std::string_view overhead_name(std::uint32_t overhead) {
  if (overhead == 1) return "Driver Compiler";
  return (overhead & 0xffff) == 0 ? pick(kOverhead, overhead >> 16) : kOverhead[0];
}

std::string_view copy_direction(std::uint8_t copy) { return pick(kCopy, copy); }

std::string copy_name(std::uint8_t copy, std::uint8_t from, std::uint8_t to) {
  return fmt::format("Memcpy {} ({} -> {})", copy_direction(copy), memory_name(from), memory_name(to));
}

std::string set_name(std::uint8_t memory) { return fmt::format("Memset ({})", memory_name(memory)); }

std::string_view reduction_name(std::uint32_t reduction) {
  return reduction < std::size(kReduction) ? kReduction[reduction] : std::string_view();
}
std::string_view nccl_type_name(std::uint32_t type) {
  return type < std::size(kDataType) ? kDataType[type] : std::string_view();
}

}  // namespace cli
