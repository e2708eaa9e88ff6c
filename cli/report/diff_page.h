// Two runs compared, as one self-contained page of HTML: the mean step before and after, and what changed.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/analyze/analysis_table.h"

namespace cli {

struct DiffPage {
  std::string title, inputs;         // inputs: as words of the command
  std::string verdict;               // a line each (compare/diff_tables.h)
  std::vector<ResultTable> changed;  // the tables of a comparison: rows that changed
  ResultTable parts;                 // all parts of the mean step
};

std::string diff_page_html(const DiffPage& diff);

}  // namespace cli
