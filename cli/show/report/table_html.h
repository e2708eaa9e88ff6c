// Tables of analyses as tables of the page: cells as all that is written for people has them (cli/answers/tables/write_tables.h), the exact value
// of a number beside its text (data-v), the whole of a name that is cut as its title.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "cli/answers/tables/analysis_table.h"
#include "cli/show/report/section.h"
#include "cli/show/report/html.h"

namespace cli::report {

// What the page holds of a table of many rows.
inline constexpr std::size_t kMostTableRows = 1024;

struct TableShown {
  std::size_t most = kMostTableRows;  // of its first rows
  std::string_view source = {};       // the table of `analyze` that has all of it; "": that of its name
  std::string command = {};           // that prints all of it; "": `analyze` with `source`
};

// Behind a line that opens it, `caption` with the number of rows. Says what is left out, and which command has it. Notes of the table follow it.
void write_folded_table(Html& page, const ResultTable& table, const ReportFacts& facts, std::string_view caption, const TableShown& shown = {});

// Writes the first `most` rows, and a note with `command`, which prints all rows.
void write_folded_table(Html& page, const ResultTable& table, std::string_view caption, std::size_t most, std::string_view command);

// Of the facts' tables; null: it is not there, or empty.
const ResultTable* find_table(const ReportFacts& facts, std::string_view name);

void write_paragraph(Html& page, std::string_view text);

}  // namespace cli::report
