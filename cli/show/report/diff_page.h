// The comparison of two runs as one self-contained HTML page: the mean step before and after, and the changes.
#pragma once
#include <string>
#include <vector>

#include "cli/answers/tables/analysis_table.h"

namespace cli::report {

struct DiffPage {
  std::string title, inputs;         // inputs are words of a shell command
  std::string verdict;               // one or more lines (compare/diff_tables.h)
  std::vector<ResultTable> changed;  // tables of the comparison, with the rows that changed
  ResultTable parts;                 // all parts of the mean step
};

std::string diff_page_html(const DiffPage& diff);

}  // namespace cli::report
