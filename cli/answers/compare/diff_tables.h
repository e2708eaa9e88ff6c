// The comparison of two runs as tables and as a short text.
#pragma once
#include "cli/answers/compare/comparison.h"
#include "cli/answers/tables/write_tables.h"

namespace cli::comparison {

// Table names in output order.
const std::vector<std::string_view>& diff_table_names();

// Returns one table per name with the rows that changed; with `all`, also unchanged rows. `runs` describes what was
// compared.
std::vector<ResultTable> diff_tables(const RunProfile& a, const RunProfile& b, const Comparison& comparison, bool all);

// Returns which run is faster, by how much, and the largest part of the difference, followed by a line for each thing
// compared. Without a verdict if there are too few steps to estimate the noise.
std::string diff_verdict(const RunProfile& a, const RunProfile& b, const Comparison& comparison);

// Returns, for example, "step 160.100 ms -> 87.400 ms (-45.4 % +- 1.2 %)".
std::string change_summary(std::string_view what, const Change& change);

// Returns all tables that have rows, then what did not change.
std::string diff_text(const std::vector<ResultTable>& tables, const TableFormat& format);

}  // namespace cli::comparison
