// What a rule found: what is wrong, where it is seen, how much would be saved at most, and what to do. Plain data; text for
// people and JSON are made of it by write_findings.h.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// A time range in which it is seen, since the trace's start, as --time takes it; `to` excluded.
struct Evidence {
  std::int64_t rank = -1;  // -1: unknown
  std::int64_t start_ns = 0, end_ns = 0;
  std::string what;  // "cudaStreamSynchronize in aten::item, then aten::mul"
};

// high: the saving is at least a tenth of the diagnosed time; medium: a thirtieth; low: less, or not known.
enum class Severity : std::uint8_t { low, medium, high };

struct Finding {
  std::string_view rule;
  Severity severity = Severity::low;  // at least; else of its saving
  std::string title;  // what is wrong, with its figures: a sentence, without its period
  std::vector<std::int64_t> ranks;  // with which it is wrong, ascending
  // At most so much of the time of the run would go, were this mended and nothing else came to light; of several ranks the
  // largest. Empty: nothing tells.
  std::optional<std::int64_t> saving_ns;
  std::vector<std::int64_t> rank_savings_ns;  // the same of each of `ranks`; empty: not known
  // The rule that finds the cause of this. Its findings are one with this finding, where they are of the same rank.
  std::string_view cause_rule;
  std::vector<Evidence> evidence;  // the longest first, at most kMostEvidence; of a stuck job of each rank
  std::vector<std::int64_t> steps;  // in which that lies, ascending; empty: none are known
  std::string advice;               // sentences
  std::string_view source;          // who says so
  std::string next_command;         // to look closer
};

inline constexpr std::size_t kMostEvidence = 5;

}  // namespace cli
