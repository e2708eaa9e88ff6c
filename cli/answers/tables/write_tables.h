// Writes results as text for people, and as JSON, CSV and Markdown.
#pragma once
#include <functional>

#include "cli/answers/tables/analysis_table.h"

namespace cli {

// Returns a cell with its unit as people read it; "-" if unknown. All output for people uses it.
std::string cell_text(const Cell& cell, Unit unit);
// Returns the column's heading: the key without the unit, which is in the cells.
std::string column_title(const Column& column);
// Returns the indices of the columns shown to people: the name of the row's subject first, sentences last.
std::vector<std::size_t> shown_columns(const ResultTable& table);
// Limit in bytes for names in text; names of kernels may be pages long.
inline constexpr std::size_t kMostShown = 100;
std::string shortened_text(std::string text, std::size_t most = kMostShown);
bool is_sentence(const Column& column);  // text that is not shortened
// Escapes `text` for one line of Markdown, after visible_text.
std::string markdown_text(std::string_view text);

struct TableFormat {
  std::string_view name;
  bool holds_several;  // several tables in one output
  bool is_data;        // for programs: complete tables and nothing else
  std::string (*write)(const std::vector<ResultTable>& tables);
};

// text: aligned columns, each in one unit, with enough decimals to give its largest number four digits; columns without
// values are omitted with a note; long names are cut, unknown values are "-"; each table is under its name if there are
// several.
// json: {"NAME": [{"COLUMN": value, ...}, ...], ...}; integers are integers, unknown values are null.
// csv: one table, with the keys in the first line (RFC 4180). Texts pass through visible_text; texts that look like a
// formula are preceded by '.
// md: like text, as Markdown tables.
const std::vector<TableFormat>& table_formats();

// Null if there is no format with this name.
const TableFormat* find_table_format(std::string_view name);

}  // namespace cli
