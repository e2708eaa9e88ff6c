#include "cli/io/text_table.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "cli/io/visible_text.h"

namespace cli {
namespace {

// Cells of a column of numbers are numbers, unknown or none.
bool is_number(const std::string& cell) {
  return cell == "?" || cell == "-" || (!cell.empty() && std::isdigit(static_cast<unsigned char>(cell[0])) != 0);
}

}  // namespace

void Table::add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = visible_text(cell);
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  std::vector<std::size_t> width(rows_[0].size());
  std::vector<bool> right(rows_[0].size(), true);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
    for (std::size_t i = 0; i < row.size() && &row != &rows_[0]; ++i) right[i] = right[i] && is_number(row[i]);
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(width[i] - row[i].size(), ' ');
      line += (right[i] ? padding + row[i] : row[i] + padding) + "  ";
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

}  // namespace cli
