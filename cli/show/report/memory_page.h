// Writes the results of `tracetool mem` as one self-contained HTML page: memory over time and the tables.
#pragma once
#include <string>
#include <vector>

#include "cli/answers/memory/memory_tables.h"

namespace cli::report {

// Returns the page. Memory over time has a chart by category and one by `by`. `command` is `tracetool mem` with its inputs and --by, for the notes of shortened tables.
std::string memory_page_html(const std::vector<memory::Input>& inputs, const std::vector<ResultTable>& tables,
                             memory::GroupBy by, const std::string& command);

}  // namespace cli::report
