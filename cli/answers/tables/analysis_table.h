// The result of an analysis as data: columns with key, unit and meaning, and rows of typed cells. Only write_tables.h
// turns it into text.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace cli {

// percent: share of a part in the whole; number: a number used as a name (rank, step, device); extent: sizes in x, y
// and z; rate: decimal GB/s; rows: a table within the cell, shown in JSON and CSV only.
enum class Unit : std::uint8_t { text, number, count, ns, percent, extent, yes_no, bytes, rate, rows };

struct Column {
  std::string_view key;  // key in JSON and CSV; ends in the unit: busy_ns, overlap_pct
  Unit unit = Unit::text;
  std::string_view meaning;       // a sentence without the full stop
  const Column* parts = nullptr;  // columns of the inner table, for Unit::rows
  std::size_t part_count = 0;
};

using Extent = std::array<std::int64_t, 3>;

using CellRows = std::vector<std::vector<std::optional<std::int64_t>>>;

// The empty cell means unknown or none.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string, Extent, CellRows, bool>;

// Converts a value to a cell. Any integer becomes one of 64 bits; an empty optional becomes the empty cell.
template <typename Value>
Cell cell_of(Value&& value) {
  using Plain = std::remove_cvref_t<Value>;
  if constexpr (std::is_same_v<Plain, std::string_view>) {
    return std::string(value);
  } else if constexpr (std::is_integral_v<Plain> && !std::is_same_v<Plain, bool>) {
    return static_cast<std::int64_t>(value);
  } else if constexpr (requires { value.has_value(); }) {
    return value ? cell_of(*value) : Cell();
  } else {
    return std::forward<Value>(value);
  }
}
// Return the empty cell for a negative number, and for "".
inline Cell known_cell(std::int64_t number) { return number < 0 ? Cell() : Cell(number); }
inline Cell text_cell(std::string_view text) { return text.empty() ? Cell() : Cell(std::string(text)); }

template <typename... Values>
void append(std::vector<Cell>& row, Values&&... values) {
  (row.push_back(cell_of(std::forward<Values>(values))), ...);
}

struct ResultTable {
  std::string_view name;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows = {};  // one cell per column
  std::vector<std::string> notes = {};       // facts that a reader of the numbers needs; a sentence each
};

// Reads the rows of a finished table by column keys, for code that combines several tables. A missing table has no
// rows. The tables must outlive this object.
class TableReading {
 public:
  TableReading(const std::vector<ResultTable>& tables, std::string_view name) {
    for (const ResultTable& table : tables) {
      if (table.name == name) table_ = &table;
    }
  }
  explicit TableReading(const ResultTable& table) : table_(&table) {}

  std::size_t rows() const { return table_ == nullptr ? 0 : table_->rows.size(); }
  const ResultTable& table() const { return *table_; }

  template <typename Value>
  std::optional<Value> get(std::size_t row, std::string_view key) const {
    const auto& columns = table_->columns;
    const auto found = std::ranges::find(columns, key, &Column::key);
    if (found == columns.end()) return std::nullopt;
    const auto* value = std::get_if<Value>(&table_->rows[row][static_cast<std::size_t>(found - columns.begin())]);
    return value == nullptr ? std::nullopt : std::optional<Value>(*value);
  }
  std::int64_t number(std::size_t row, std::string_view key) const { return get<std::int64_t>(row, key).value_or(0); }
  std::int64_t sum(std::string_view key) const {
    std::int64_t sum = 0;
    for (std::size_t row = 0; row < rows(); ++row) sum += number(row, key);
    return sum;
  }
  std::string rank(std::size_t row) const {
    const auto rank = get<std::int64_t>(row, "rank");
    return rank ? fmt::format("rank {}", *rank) : "an unknown rank";
  }

  // Returns the first `most` rows with these columns only.
  ResultTable part(std::initializer_list<std::string_view> keys, std::size_t most) const {
    ResultTable part{table_->name, {}, {}, {}};
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < table_->columns.size(); ++i) {
      if (std::find(keys.begin(), keys.end(), table_->columns[i].key) != keys.end()) places.push_back(i);
    }
    for (const std::size_t i : places) part.columns.push_back(table_->columns[i]);
    for (std::size_t row = 0; row < std::min(most, rows()); ++row) {
      auto& cells = part.rows.emplace_back();
      for (const std::size_t i : places) cells.push_back(table_->rows[row][i]);
    }
    return part;
  }

 private:
  const ResultTable* table_ = nullptr;
};

}  // namespace cli
