// A comparison of two runs as tables, and in a few lines.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/tables/analysis_table.h"
#include "cli/answers/tables/write_tables.h"
#include "cli/answers/compare/comparison.h"

namespace cli::comparison {

// Their names, in the order in which they are written.
const std::vector<std::string_view>& diff_table_names();

// Of each name a table: rows that changed, with `all` those that did not, too. `runs` says what was compared.
std::vector<ResultTable> diff_tables(const RunProfile& a, const RunProfile& b, const Comparison& comparison, bool all);

// Which is faster, by how much, and what most of that is; without a verdict if there are too few steps to know the noise. Then what was compared, a line each.
std::string diff_verdict(const RunProfile& a, const RunProfile& b, const Comparison& comparison);

// "step 160.100 ms -> 87.400 ms (-45.4 % +- 1.2 %)"
std::string change_summary(std::string_view what, const Change& change);

// Each table that has rows, then what did not change.
std::string diff_text(const std::vector<ResultTable>& tables, const TableFormat& format);

}  // namespace cli::comparison
