// Columns and cells that several tables share.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/answers/tables/analysis.h"
#include "cli/answers/tables/analysis_table.h"
#include "cli/timeline/collectives/operations.h"

namespace cli {

// Cells that several analyses use.
inline Cell known(std::optional<std::int64_t> value) { return value ? Cell(*value) : Cell(); }
inline Cell known_real(std::optional<double> value) { return value ? Cell(*value) : Cell(); }

// Returns an empty cell if `whole` is 0.
inline Cell percent(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? Cell(100.0 * static_cast<double>(part) / static_cast<double>(whole)) : Cell();
}

template <typename... Values>
void append(std::vector<Cell>& row, Values&&... values) {
  (row.emplace_back(std::forward<Values>(values)), ...);
}

inline constexpr Column kRankColumn{"rank", Unit::number, "Rank of the process in the job"};
inline constexpr Column kPhaseColumn{"phase", Unit::text, "Phase of the run, if a rank has several files"};

// The columns that identify a row's process.
inline std::vector<Column> process_columns(RowKeys keys) {
  return keys.phases ? std::vector{kRankColumn, kPhaseColumn} : std::vector{kRankColumn};
}
inline std::vector<Column> joined(std::vector<Column> first, const std::vector<Column>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}
inline void append_process(std::vector<Cell>& row, const Process& process, RowKeys keys) {
  process.rank >= 0 ? row.emplace_back(process.rank) : row.emplace_back();
  if (!keys.phases) return;
  process.phase.empty() ? row.emplace_back() : row.emplace_back(process.phase);
}

inline constexpr Column kDeviceColumn{"device", Unit::number, "CUDA ordinal of the GPU in the process"};
inline constexpr Column kStepColumn{
    "step", Unit::number, "Number of the training step, from the program or counted if the program names none"};

// Columns that the tables of collectives share.
inline constexpr Column kCommunicatorColumn{
    "communicator", Unit::text,
    "NCCL's hash of the communicator, or PyTorch's name of the process group; empty if unknown"};
inline constexpr Column kDescriptionColumn{"description", Unit::text, "PyTorch's description of the process group"};
inline constexpr Column kEpochColumn{
    "epoch", Unit::number, "Number of this communicator among those with the same hash, from 1; empty if unknown"};
inline constexpr Column kOperationColumn{"op", Unit::text, "Operation"};

inline Cell text_cell(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

inline void append_communicator(std::vector<Cell>& cells, const CommunicatorInfo& info) {
  append(cells, text_cell(info.label), text_cell(info.description),
         info.epoch > 0 ? Cell(std::int64_t{info.epoch}) : Cell());
}

// Returns decimal GB/s, which equals bytes per nanosecond.
inline std::optional<double> gb_per_s(std::optional<std::int64_t> bytes, std::optional<std::int64_t> ns) {
  if (!bytes || !ns || *ns <= 0) return {};
  return static_cast<double>(*bytes) / static_cast<double>(*ns);
}
inline Cell known(std::optional<double> value) { return value ? Cell(*value) : Cell(); }

inline std::int64_t rank_of(const Catalog& catalog, const MatchedCall& call) {
  return catalog.processes[call.process].rank;
}

// Returns, for example, "all_reduce 17 of communicator 0x00000000c0ffee00".
inline std::string collective_text(const TraceCollectives& collectives, const MatchedCollective& collective) {
  const std::string& label =
      collectives.calls.communicators[collectives.matched.groups[collective.group].communicator].label;
  return std::string(operation_name(collectives.calls.whats[collective.what].operation)) + " " +
         std::to_string(collective.ordinal) + (label.empty() ? "" : " of communicator " + label);
}

// Returns true if the collective overlaps the chosen time and a chosen rank takes part in it.
inline bool is_shown(const AnalysisContext& context, const MatchedCollective& collective) {
  const auto& [calls, matched, clocks] = *context.collectives;
  for (const MatchedCall& each : matched.calls_of(collective)) {
    if (!context.chosen[each.process]) continue;
    const CollectiveCall& call = call_of(calls, each);
    const std::int64_t start_ns = call.gpu_start_ns != kNoTime ? call.gpu_start_ns : call.host_start_ns;
    if (start_ns == kNoTime || context.windows.hold(each.process, start_ns, std::max(start_ns, call.gpu_end_ns)))
      return true;
  }
  return false;
}

// Returns notes about rejected and ambiguous collectives and about the clocks by which times are compared.
inline std::vector<std::string> collective_notes(const AnalysisContext& context) {
  const auto& [calls, matched, clocks] = *context.collectives;
  std::vector<std::string> notes = matched.notes;
  for (const MatchRefusal& refusal : matched.refusals) {
    const CommunicatorInfo& info = calls.communicators[refusal.communicator];
    const Process& process = context.catalog.processes[refusal.process];
    notes.push_back((process.rank >= 0 ? "rank " + std::to_string(process.rank) : process.source) + ": " +
                    std::to_string(refusal.calls) + " collectives of " +
                    (info.label.empty() ? "an unknown communicator" : "communicator " + info.label) +
                    " are not matched: " + refusal.why);
  }
  return notes;
}

}  // namespace cli
