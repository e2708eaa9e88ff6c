#include "cli/read/ring_words.h"

#include <fmt/format.h>

#include <iterator>

#include "cli/io/json_text.h"

namespace cli {
namespace {

constexpr std::string_view kMemory[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                        "Array",   "Managed",  "Device Static", "Managed Static"};
constexpr std::string_view kCopy[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                      "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
// ncclRedOp_t
constexpr std::string_view kReduction[] = {"sum", "prod", "max", "min", "avg"};

template <std::size_t Size>
std::string_view pick(const std::string_view (&words)[Size], std::size_t index) {
  return index < Size ? words[index] : words[0];
}

}  // namespace

std::string_view memory_name(std::uint8_t memory) { return pick(kMemory, memory); }

std::string copy_name(std::uint8_t copy, std::uint8_t from, std::uint8_t to) {
  return fmt::format("Memcpy {} ({} -> {})", pick(kCopy, copy), memory_name(from), memory_name(to));
}

std::string json_quoted(std::string_view text) {
  struct : ByteSink {
    void write(std::string_view bytes) override { all += bytes; }
    void finish() override {}
    std::string all;
  } sink;
  JsonText out(sink);
  json_string(out, text);
  out.flush();
  return sink.all;
}

std::string nccl_args(const trace::NcclCallRecord& record) {
  constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  std::string args = "\"domain\": \"NCCL\"";
  auto out = std::back_inserter(args);
  // Hashes use all 64 bits, more than a viewer's numbers keep: text.
  if ((record.has & 1) != 0) fmt::format_to(out, ", \"communicator\": \"{:#018x}\"", record.communicator);
  if (record.epoch != 0) fmt::format_to(out, ", \"epoch\": {}", record.epoch);
  if (record.ordinal != kUnknown) fmt::format_to(out, ", \"ordinal\": {}", record.ordinal);
  if ((record.has & 4) != 0) {
    if (record.reduction_op < std::size(kReduction)) {
      fmt::format_to(out, ", \"reduction\": \"{}\"", kReduction[record.reduction_op]);
    } else {
      fmt::format_to(out, ", \"reduction\": {}", record.reduction_op);
    }
  }
  if ((record.has & 8) != 0) fmt::format_to(out, ", \"peer\": {}", static_cast<std::int32_t>(record.peer));
  return args;
}

}  // namespace cli
