#include "cli/show/report/table_html.h"

#include <algorithm>
#include <optional>

#include "cli/answers/tables/write_tables.h"
#include "cli/base/text.h"

namespace cli::report {
namespace {

// In JSON form.
std::optional<std::string> exact_value(const Cell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *number);
  if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
  return std::nullopt;
}

void write_cell(Html& page, const Cell& cell, const Column& column) {
  std::string text = cell_text(cell, column.unit);
  if (const auto value = exact_value(cell)) return page.element("td", {{"data-v", *value}}, text);
  if (std::holds_alternative<std::monostate>(cell) && column.unit != Unit::text)
    return page.element("td", {{"class", "unknown"}}, text);
  std::string shown = is_sentence(column) ? text : shortened_text(text);
  if (shown == text) return page.element("td", text);
  page.element("td", {{"title", text}}, shown);
}

void write_head(Html& page, const ResultTable& table, const std::vector<std::size_t>& order) {
  const Element in_thead(page, "thead");
  const Element in_tr(page, "tr");
  for (const std::size_t i : order) {
    const Column& column = table.columns[i];
    page.element("th", {{"scope", "col"}, {"data-key", column.key}, {"title", column.meaning}}, column_title(column));
  }
}

void write_rows(Html& page, const ResultTable& table, std::size_t most) {
  const std::vector<std::size_t> order = shown_columns(table);
  const Element in_div(page, "div",
                       {{"class", "scroll"},
                        {"tabindex", "0"},
                        {"role", "region"},
                        {"aria-label", fmt::format("table {}", table.name)}});
  const Element in_table(page, "table", {{"data-table", table.name}});
  write_head(page, table, order);
  const Element in_tbody(page, "tbody");
  for (std::size_t row = 0; row < std::min(most, table.rows.size()); ++row) {
    const Element in_tr(page, "tr");
    for (const std::size_t i : order) write_cell(page, table.rows[row][i], table.columns[i]);
  }
}

std::string whole_command(const ResultTable& table, const ReportFacts& facts, const TableShown& shown) {
  if (!shown.command.empty()) return shown.command;
  return fmt::format("tracetool analyze {}{} --only {}", facts.inputs, facts.selected,
                     shown.source.empty() ? table.name : shown.source);
}

void write_after(Html& page, const ResultTable& table, std::size_t most, std::string_view command) {
  if (table.rows.size() > most) {
    const Element in_p(page, "p", {{"class", "cut"}});
    page.text(fmt::format("{} of {} rows; all of them: ", most, table.rows.size()));
    page.element("code", command);
  }
  for (const std::string& note : table.notes) page.element("p", {{"class", "note"}}, "note: " + note);
}

std::string counted(const ResultTable& table, std::string_view caption) {
  return fmt::format("{}: {}", caption, count_text(table.rows.size(), "row"));
}

}  // namespace

void write_folded_table(Html& page, const ResultTable& table, std::string_view caption, std::size_t most,
                        std::string_view command) {
  const Element in_details(page, "details");
  page.element("summary", counted(table, caption));
  write_rows(page, table, most);
  write_after(page, table, most, command);
}

void write_folded_table(Html& page, const ResultTable& table, const ReportFacts& facts, std::string_view caption,
                        const TableShown& shown) {
  write_folded_table(page, table, caption, shown.most, whole_command(table, facts, shown));
}

const ResultTable* find_table(const ReportFacts& facts, std::string_view name) {
  const auto found = std::ranges::find(facts.tables, name, &ResultTable::name);
  return found == facts.tables.end() || found->rows.empty() ? nullptr : &*found;
}

std::function<bool(const ReportFacts&)> has_rows(std::string_view table) {
  return [table](const ReportFacts& facts) { return find_table(facts, table) != nullptr; };
}

void write_paragraph(Html& page, std::string_view text) { page.element("p", text); }

}  // namespace cli::report
