// A finding of a rule: the problem, its evidence, the maximum time saved, and advice. Plain data; write_findings.h makes
// text and JSON from it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// A time range that shows the problem, since the start of the trace, in the form of --time; `end_ns` is excluded.
struct Evidence {
  std::int64_t rank = -1;  // -1: unknown
  std::int64_t start_ns = 0, end_ns = 0;
  std::string what;  // "cudaStreamSynchronize in aten::item, then aten::mul"
};

// high: the saving is at least a tenth of the diagnosed time; medium: a thirtieth; low: less, or unknown.
enum class Severity : std::uint8_t { low, medium, high };

struct Finding {
  std::string_view rule;
  Severity severity = Severity::low;  // the lowest severity; a larger saving raises it
  std::string title;  // the problem with its figures: a sentence without the period
  std::vector<std::int64_t> ranks;  // ranks with the problem, ascending
  // Upper bound on the time saved by fixing this alone; the largest of all ranks. Empty if unknown.
  std::optional<std::int64_t> saving_ns;
  std::vector<std::int64_t> rank_savings_ns;  // the same for each of `ranks`; empty if unknown
  // The rule that finds the cause of this. Its findings on the same rank are merged into this finding.
  std::string_view cause_rule;
  std::vector<Evidence> evidence;  // the longest first, at most kMostEvidence; one of each rank if a job is stuck
  std::vector<std::int64_t> steps;  // steps that contain the evidence, ascending; empty if none are known
  std::string advice;               // sentences
  std::string_view source;          // a document that supports it
  std::string next_command;         // shows more detail
};

inline constexpr std::size_t kMostEvidence = 5;

}  // namespace cli
