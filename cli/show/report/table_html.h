// Tables of analyses as HTML. Cells have the same text as in other output for people
// (cli/answers/tables/write_tables.h). The exact value of a number is in its attribute data-v, the full text of a
// shortened name in its title.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "cli/answers/tables/analysis_table.h"
#include "cli/show/report/html.h"
#include "cli/show/report/section.h"

namespace cli::report {

// Maximum number of rows of a table on the page.
inline constexpr std::size_t kMostTableRows = 1024;

struct TableShown {
  std::size_t most = kMostTableRows;  // maximum number of rows, counted from the first
  std::string_view source = {};       // the table of `analyze` that contains all rows; "" if it has the same name
  std::string command = {};           // a command that prints all rows; "" for `analyze` with `source`
};

// Writes a collapsed table whose line is `caption` with the number of rows. Writes which rows are omitted and the
// command that prints them, then the notes of the table.
void write_folded_table(Html& page, const ResultTable& table, const ReportFacts& facts, std::string_view caption,
                        const TableShown& shown = {});

// Writes the first `most` rows, and a note with `command`, which prints all rows.
void write_folded_table(Html& page, const ResultTable& table, std::string_view caption, std::size_t most,
                        std::string_view command);

// Returns one of the facts' tables; null if it is missing or empty.
const ResultTable* find_table(const ReportFacts& facts, std::string_view name);

// Returns a condition of a section: the table has rows.
std::function<bool(const ReportFacts&)> has_rows(std::string_view table);

void write_paragraph(Html& page, std::string_view text);

}  // namespace cli::report
