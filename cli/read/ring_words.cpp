#include "cli/read/ring_words.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <iterator>

#include "cli/io/json_text.h"

namespace cli {
namespace {

constexpr std::string_view kMemory[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                        "Array",   "Managed",  "Device Static", "Managed Static"};
constexpr std::string_view kCopy[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                      "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::string_view kSync[] = {"Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};
// CUpti_ActivityLaunchType, and what is newer than we are.
constexpr std::string_view kLaunch[] = {"regular", "cooperative", "cooperative on several devices", "unknown"};
// CUpti_ActivityOverheadKind >> 16; 1 (not shifted) is the compiler.
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
constexpr std::string_view kNotice[] = {"notice",    "gap",           "fatal",          "stepped_down",
                                        "source_on", "clock_changed", "graphs_unknown", "spool_ended",
                                        "stalled"};
constexpr std::string_view kState[] = {"off", "on", "failed", "taken"};
// ncclRedOp_t, ncclDataType_t
constexpr std::string_view kReduction[] = {"sum", "prod", "max", "min", "avg"};
constexpr std::string_view kDataType[] = {"ncclInt8",    "ncclUint8",    "ncclInt32",      "ncclUint32",
                                          "ncclInt64",   "ncclUint64",   "ncclFloat16",    "ncclFloat32",
                                          "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
constexpr std::uint64_t kUnknownOrdinal = ~std::uint64_t{0};
enum Has : std::uint8_t { kCommunicator = 1, kReductionOp = 4, kPeer = 8, kTypeAndCount = 16, kStream = 32 };

template <std::size_t Size>
std::string_view pick(const std::string_view (&words)[Size], std::size_t index) {
  return index < Size ? words[index] : words[0];
}

// The word, or the number where there is none yet.
template <std::size_t Size>
void add_word(std::string& args, std::string_view key, const std::string_view (&words)[Size], std::uint32_t number) {
  if (number < Size) return add_member(args, key, fmt::format("\"{}\"", words[number]));
  add_member(args, key, fmt::format("{}", number));
}

// Hashes and addresses use all 64 bits, more than a viewer's numbers keep: text.
std::string hex(std::uint64_t value) { return fmt::format("\"{:#018x}\"", value); }

// JSON has no infinity and no NaN: text.
template <typename Real>
std::string real(Real value) {
  return std::isfinite(value) ? fmt::format("{}", value) : fmt::format("\"{}\"", value);
}

template <typename Record>
void add_identity(std::string& args, const Record& r) {
  if ((r.has & kCommunicator) != 0) add_member(args, "communicator", hex(r.communicator));
  if (r.epoch != 0) add_member(args, "epoch", fmt::format("{}", r.epoch));
  if (r.ordinal != kUnknownOrdinal) add_member(args, "ordinal", fmt::format("{}", r.ordinal));
  if ((r.has & kReductionOp) != 0) add_word(args, "reduction", kReduction, r.reduction_op);
  if ((r.has & kPeer) != 0) add_member(args, "peer", fmt::format("{}", static_cast<std::int32_t>(r.peer)));
}

}  // namespace

std::string_view memory_name(std::uint8_t memory) { return pick(kMemory, memory); }
std::string_view sync_name(std::uint8_t type) { return pick(kSync, type); }
std::string_view launch_type_name(std::uint8_t type) { return kLaunch[type < 3 ? type : 3]; }
std::string_view memory_operation(std::uint8_t operation) { return pick(kMemoryOperation, operation); }
std::string_view pool_operation(std::uint8_t operation) { return pick(kPoolOperation, operation); }
std::string_view notice_name(std::uint8_t code) { return pick(kNotice, code); }
std::string_view source_state(std::uint32_t state) { return pick(kState, state); }

std::string_view overhead_name(std::uint32_t overhead) {
  if (overhead == 1) return "Driver Compiler";
  return (overhead & 0xffff) == 0 ? pick(kOverhead, overhead >> 16) : kOverhead[0];
}

std::string copy_name(std::uint8_t copy, std::uint8_t from, std::uint8_t to) {
  return fmt::format("Memcpy {} ({} -> {})", pick(kCopy, copy), memory_name(from), memory_name(to));
}

std::string json_quoted(std::string_view text) {
  struct Text : ByteSink {
    void write(std::string_view bytes) override { all += bytes; }
    void finish() override {}
    std::string all;
    JsonText out{*this};  // its buffer is large: one for all calls
  };
  thread_local Text quoted;
  quoted.all.clear();
  json_string(quoted.out, text);
  quoted.out.flush();
  return quoted.all;
}

void add_member(std::string& args, std::string_view key, std::string_view json_value) {
  if (!args.empty()) args += ", ";
  args.append("\"").append(key).append("\": ").append(json_value);
}

// nvtxPayloadType_t
void add_payload(std::string& args, std::uint8_t type, std::uint64_t payload) {
  const auto low = static_cast<std::uint32_t>(payload);
  switch (type) {
    case 1:
      return add_member(args, "payload", fmt::format("{}", payload));
    case 2:
      return add_member(args, "payload", fmt::format("{}", static_cast<std::int64_t>(payload)));
    case 3:
      return add_member(args, "payload", real(std::bit_cast<double>(payload)));
    case 4:
      return add_member(args, "payload", fmt::format("{}", low));
    case 5:
      return add_member(args, "payload", fmt::format("{}", static_cast<std::int32_t>(low)));
    case 6:
      return add_member(args, "payload", real(std::bit_cast<float>(low)));
    default:
      return;
  }
}

void add_nccl(std::string& args, const trace::NcclCallRecord& call) {
  add_identity(args, call);
  if ((call.has & kTypeAndCount) != 0) {
    add_word(args, "data type", kDataType, call.data_type);
    add_member(args, "count", fmt::format("{}", call.count));
  }
  if ((call.has & kStream) != 0) add_member(args, "stream handle", hex(call.stream));
}

void add_nccl(std::string& args, const trace::GraphNodeRecord& node) { add_identity(args, node); }

}  // namespace cli
