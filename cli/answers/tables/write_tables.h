// Results as text for people, and as JSON, CSV and Markdown.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/tables/analysis_table.h"

namespace cli {

// A cell as people read it, with its unit; "-" for what is unknown. The same in all that is written for people.
std::string cell_text(const Cell& cell, Unit unit);
// What stands above the cells: the key without the unit, which stands in them.
std::string column_title(const Column& column);
// The columns that are shown to people, by their index in the table: the name of what a row is about first, sentences last.
std::vector<std::size_t> shown_columns(const ResultTable& table);
// Names of kernels may be pages long: at most so many bytes.
inline constexpr std::size_t kMostShown = 100;
std::string shortened_text(std::string text, std::size_t most = kMostShown);
bool is_sentence(const Column& column);  // a text that is not shortened
// Escapes `text` for one line of Markdown, after visible_text.
std::string markdown_text(std::string_view text);

struct TableFormat {
  std::string_view name;
  bool holds_several;  // tables in one output
  bool is_data;        // for programs: whole, with nothing beside it
  std::string (*write)(const std::vector<ResultTable>& tables);
};

// text: aligned columns, each in one unit, with as many decimals as give its largest number four digits; columns without a
// value left out, with a note; long names cut, "-" for unknown values; a table under its name if there are several.
// json: {"NAME": [{"COLUMN": value, ...}, ...], ...}; integers are integers, unknown is null.
// csv: one table, a line of keys first (RFC 4180). Texts pass through visible_text; a leading ' protects those that look like a formula.
// md: like text, as tables of Markdown.
const std::vector<TableFormat>& table_formats();

// Null: there is none of that name.
const TableFormat* find_table_format(std::string_view name);

}  // namespace cli
