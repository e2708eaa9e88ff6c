#include "cli/answers/tables/write_tables.h"

#include <cmath>

#include "cli/base/json_text.h"
#include "cli/base/terminal.h"
#include "cli/base/text.h"

namespace cli {
namespace {

std::string extent_text(const Extent& extent) { return fmt::format("{}", fmt::join(extent, "x")); }

}  // namespace

std::string cell_text(const Cell& cell, Unit unit) {
  if (std::holds_alternative<std::monostate>(cell)) return "-";
  if (const auto* extent = std::get_if<Extent>(&cell)) return extent_text(*extent);
  if (const auto* yes = std::get_if<bool>(&cell)) return *yes ? "yes" : "no";
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* real = std::get_if<double>(&cell)) {
    return unit == Unit::ns ? duration_text(std::llround(*real))
                            : fmt::format("{:.2f}", *real) + (unit == Unit::percent ? " %" : "");
  }
  const std::int64_t number = std::get<std::int64_t>(cell);
  if (unit == Unit::bytes)
    return number < 0 ? "-" + bytes_text(-static_cast<std::uint64_t>(number))
                      : bytes_text(static_cast<std::uint64_t>(number));
  return unit == Unit::ns ? duration_text(number) : fmt::format("{}", number);
}

std::string column_title(const Column& column) {
  std::string text(column.key);
  for (const std::string_view ending : {"_ns", "_pct", "_gb_per_s"}) {
    if (text.ends_with(ending)) text.erase(text.size() - ending.size());
  }
  constexpr std::string_view kBytes = "_bytes";
  const std::size_t bytes = column.unit == Unit::bytes ? text.find(kBytes) : text.npos;
  if (bytes != text.npos) text.erase(bytes, kBytes.size());
  std::replace(text.begin(), text.end(), '_', ' ');
  if (column.unit == Unit::rate) text += " GB/s";
  return text;
}

std::string shortened_text(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // do not cut within a character
  return text.substr(0, end) + "...";
}

bool is_sentence(const Column& column) { return column.key == "trouble" || column.key == "evidence"; }

std::vector<std::size_t> shown_columns(const ResultTable& table) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].unit != Unit::rows) order.push_back(i);
  }
  std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return table.columns[i].key == "name"; });
  std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return !is_sentence(table.columns[i]); });
  return order;
}

namespace {

// The number format of a column: one unit, and enough decimals to give the largest number four digits.
struct NumberStyle {
  double unit = 1;
  std::string_view name;  // name of the unit; "" if there is none
  int decimals = 0;
};

constexpr NumberStyle kTimes[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
constexpr NumberStyle kSizes[] = {{1073741824, "GiB"}, {1048576, "MiB"}, {1024, "KiB"}, {1, "bytes"}};

std::optional<double> number_in(const Cell& cell) {
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  return std::nullopt;
}

// This column names the row's size class, so each cell has its own unit.
constexpr std::string_view kSizeClass = "from_bytes";

// Returns true if no row has a value in the column.
bool is_unknown(const ResultTable& table, std::size_t column) {
  return std::all_of(table.rows.begin(), table.rows.end(),
                     [&](const auto& row) { return std::holds_alternative<std::monostate>(row[column]); });
}

NumberStyle style_of(const ResultTable& table, std::size_t column) {
  const Unit unit = table.columns[column].unit;
  double largest = 0;
  bool is_whole = true;
  for (const auto& row : table.rows) {
    if (const auto number = number_in(row[column])) largest = std::max(largest, std::abs(*number));
    is_whole = is_whole && !std::holds_alternative<double>(row[column]);
  }
  NumberStyle style;
  if (unit == Unit::ns || unit == Unit::bytes) {
    for (const NumberStyle& each : unit == Unit::ns ? kTimes : kSizes) {
      style = each;
      if (largest >= each.unit) break;
    }
  } else if (unit == Unit::percent) {
    style.name = "%";
  }
  if (style.unit > 1 || !is_whole) {
    const double shown = largest / style.unit;
    style.decimals = shown >= 1000 ? 0 : shown >= 100 ? 1 : shown >= 10 ? 2 : 3;
  }
  return style;
}

std::string number_text(double number, const NumberStyle& style) {
  const std::string text = fmt::format("{:.{}f}", number / style.unit, style.decimals);
  const bool is_nothing = text.find_first_of("123456789") == text.npos;
  if (!is_nothing || number == 0) return is_nothing ? "0" : text;
  return fmt::format("{}<{:.{}f}", number < 0 ? "-" : "", std::pow(10.0, -style.decimals), style.decimals);
}

std::string write_text(const std::vector<ResultTable>& tables) {
  std::string out;
  for (const ResultTable& table : tables) {
    if (tables.size() > 1) out += fmt::format("{}{}\n", out.empty() ? "" : "\n", table.name);
    std::vector<std::size_t> order;
    std::vector<std::string> head, empty;
    std::vector<NumberStyle> styles(table.columns.size());
    for (const std::size_t i : shown_columns(table)) {
      const std::string title = column_title(table.columns[i]);
      if (!table.rows.empty() && is_unknown(table, i)) {
        empty.push_back(title);
        continue;
      }
      order.push_back(i);
      if (table.columns[i].key != kSizeClass) styles[i] = style_of(table, i);
      head.push_back(title == "bytes" && !styles[i].name.empty()
                         ? std::string(styles[i].name)
                         : title + (styles[i].name.empty() ? "" : " " + std::string(styles[i].name)));
    }
    Table lines(std::move(head));
    for (const auto& cells : table.rows) {
      std::vector<std::string> row;
      for (const std::size_t i : order) {
        const std::optional<double> number = number_in(cells[i]);
        std::string text = number && table.columns[i].key != kSizeClass ? number_text(*number, styles[i])
                                                                        : cell_text(cells[i], table.columns[i].unit);
        row.push_back(is_sentence(table.columns[i]) ? std::move(text) : shortened_text(std::move(text)));
      }
      lines.add(std::move(row));
    }
    out += lines.text();
    if (!empty.empty()) add_line(out, "note: columns without values are omitted: {}", fmt::join(empty, ", "));
    for (const std::string& note : table.notes) add_line(out, "note: {}", note);
  }
  return out;
}

struct StringSink : ByteSink {
  void write(std::string_view bytes) override { all += bytes; }
  void finish() override {}
  std::string all;
};

// Returns a number, "true" or "false"; "" for other cells.
std::string scalar_text(const Cell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *number);
  if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
  if (const auto* yes = std::get_if<bool>(&cell)) return *yes ? "true" : "false";
  return {};
}

void json_rows(JsonText& out, const Column& column, const CellRows& rows) {
  out.raw("[");
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t i = 0; i < column.part_count; ++i) {
      out.raw(i > 0 ? ", \"" : row > 0 ? ", {\"" : "{\"");
      out.raw(column.parts[i].key);
      out.raw("\": ");
      rows[row][i] ? out.number(*rows[row][i]) : out.raw("null");
    }
    out.raw("}");
  }
  out.raw("]");
}

void json_value(JsonText& out, const Cell& cell, const Column& column) {
  if (const auto* rows = std::get_if<CellRows>(&cell)) return json_rows(out, column, *rows);
  if (const auto* text = std::get_if<std::string>(&cell)) return json_string(out, *text);
  if (const auto* extent = std::get_if<Extent>(&cell)) return out.raw(fmt::format("[{}]", fmt::join(*extent, ", ")));
  out.raw(std::holds_alternative<std::monostate>(cell) ? "null" : scalar_text(cell));
}

void json_row(JsonText& out, const ResultTable& table, const std::vector<Cell>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    out.raw(i == 0 ? "{\"" : ", \"");
    out.raw(table.columns[i].key);
    out.raw("\": ");
    json_value(out, cells[i], table.columns[i]);
  }
  out.raw("}");
}

std::string write_json(const std::vector<ResultTable>& tables) {
  StringSink sink;
  JsonText out(sink);
  const char* between_tables = "{\n";
  for (const ResultTable& table : tables) {
    out.raw(fmt::format("{}\"{}\": [", std::exchange(between_tables, ",\n"), table.name));
    const char* between_rows = "\n  ";
    for (const auto& cells : table.rows) {
      out.raw(std::exchange(between_rows, ",\n  "));
      json_row(out, table, cells);
    }
    out.raw("]");
  }
  out.raw("\n}\n");
  out.flush();
  return std::move(sink.all);
}

std::string csv_text(const std::string& text) {
  const bool formula = !text.empty() && std::string_view("=+-@").find(text[0]) != std::string_view::npos;
  const std::string safe = (formula ? "'" : "") + visible_text(text);
  if (safe.find_first_of(",\"") == std::string::npos) return safe;
  std::string quoted = "\"";
  for (const char c : safe) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

// Returns "3:1500:200 4:0:180": values separated by ':', rows by a space.
std::string csv_rows(const CellRows& rows) {
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      out += (i > 0 ? ":" : out.empty() ? "" : " ") + (row[i] ? fmt::format("{}", *row[i]) : std::string());
  }
  return out;
}

std::string csv_value(const Cell& cell) {
  if (const auto* rows = std::get_if<CellRows>(&cell)) return csv_rows(*rows);
  if (const auto* text = std::get_if<std::string>(&cell)) return csv_text(*text);
  if (const auto* extent = std::get_if<Extent>(&cell)) return extent_text(*extent);
  return scalar_text(cell);
}

std::string write_csv(const std::vector<ResultTable>& tables) {
  std::string out;
  for (const ResultTable& table : tables) {
    for (const Column& column : table.columns)
      out += (&column == &table.columns[0] ? "" : ",") + std::string(column.key);
    out += "\r\n";
    for (const auto& cells : table.rows) {
      for (const Cell& cell : cells) out += (&cell == &cells[0] ? "" : ",") + csv_value(cell);
      out += "\r\n";
    }
  }
  return out;
}

std::string write_markdown(const std::vector<ResultTable>& tables) {
  std::string out;
  for (const ResultTable& table : tables) {
    if (tables.size() > 1) out += fmt::format("{}## {}\n\n", out.empty() ? "" : "\n", table.name);
    std::string rule = "|";
    out += "|";
    for (const Column& column : table.columns) {
      if (column.unit == Unit::rows) continue;
      out += fmt::format(" {} |", markdown_text(column_title(column)));
      rule += column.unit == Unit::text ? "---|" : "---:|";
    }
    out += "\n" + rule + "\n";
    for (const auto& cells : table.rows) {
      out += "|";
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (table.columns[i].unit == Unit::rows) continue;
        out += fmt::format(" {} |", markdown_text(cell_text(cells[i], table.columns[i].unit)));
      }
      out += "\n";
    }
    for (const std::string& note : table.notes) out += fmt::format("\n{}\n", markdown_text(note));
  }
  return out;
}

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : visible_text(text)) {
    if (std::string_view("\\|<>*_`[]&~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

const std::vector<TableFormat>& table_formats() {
  static const std::vector<TableFormat> formats{{"text", true, false, write_text},
                                                {"json", true, true, write_json},
                                                {"csv", false, true, write_csv},
                                                {"md", true, false, write_markdown}};
  return formats;
}

const TableFormat* find_table_format(std::string_view name) {
  const auto& formats = table_formats();
  const auto found = std::ranges::find(formats, name, &TableFormat::name);
  return found == formats.end() ? nullptr : &*found;
}

}  // namespace cli
