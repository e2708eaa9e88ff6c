// What several analyses put into their rows.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/answers/tables/analysis.h"
#include "cli/answers/tables/analysis_table.h"

namespace cli {

inline Cell known(std::optional<std::int64_t> value) { return value ? Cell(*value) : Cell(); }
inline Cell known_real(std::optional<double> value) { return value ? Cell(*value) : Cell(); }

// Of a whole of 0 there is no part.
inline Cell percent(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? Cell(100.0 * static_cast<double>(part) / static_cast<double>(whole)) : Cell();
}

template <typename... Values>
void append(std::vector<Cell>& row, Values&&... values) {
  (row.emplace_back(std::forward<Values>(values)), ...);
}

inline constexpr Column kRankColumn{"rank", Unit::number, "Rank of the process in the job"};
inline constexpr Column kPhaseColumn{"phase", Unit::text, "Phase of the run, if a rank has several files"};

// Whose a row is.
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
inline constexpr Column kStepColumn{"step", Unit::number, "Number of the training step, from the program or counted if the program names none"};

}  // namespace cli
