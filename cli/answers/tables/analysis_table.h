// The result of an analysis as data: columns with key, unit and meaning, and rows of typed cells. Text is made of it by
// write_tables.h alone.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cli {

// ns, percent: of a part in the whole; count: of things; number: a name that is a number (rank, step, device); extent:
// sizes in x, y and z; yes_no: a bool; bytes; rate: in decimal GB/s; rows: of a table within the cell, which JSON and CSV alone show.
enum class Unit : std::uint8_t { text, number, count, ns, percent, extent, yes_no, bytes, rate, rows };

struct Column {
  std::string_view key;  // in JSON and CSV; ends in the unit: busy_ns, overlap_pct
  Unit unit = Unit::text;
  std::string_view meaning;  // a sentence, without its period
  const Column* parts = nullptr;  // of rows: their columns
  std::size_t part_count = 0;
};

using Extent = std::array<std::int64_t, 3>;

using CellRows = std::vector<std::vector<std::optional<std::int64_t>>>;

// Empty: unknown, or there is none.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string, Extent, CellRows, bool>;

struct ResultTable {
  std::string_view name;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // as many cells as columns
  std::vector<std::string> notes;       // what a reader of the numbers has to know; a sentence each
};

}  // namespace cli
