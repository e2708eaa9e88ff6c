#include "cli/base/text_table.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "cli/base/terminal.h"
#include "cli/base/visible_text.h"

namespace cli {
namespace {

constexpr std::string_view kBetween = "  ";
constexpr std::size_t kLeastText = 20;

// Cells of a column of numbers are numbers, unknown or none.
bool is_number(const std::string& cell) {
  const std::size_t first = cell.find_first_not_of("-<");  // -1.5, <0.01
  return cell == "?" || cell == "-" || (first != cell.npos && std::isdigit(static_cast<unsigned char>(cell[first])) != 0);
}

// Makes the widest text columns narrower until a line has at most `most` columns, or each text column has kLeastText. 0 is no limit.
void fit(std::vector<std::size_t>& width, const std::vector<bool>& is_number, std::size_t most) {
  std::size_t whole = kBetween.size() * (width.size() - 1);
  for (const std::size_t each : width) whole += each;
  while (most != 0 && whole > most) {
    std::size_t widest = width.size();
    for (std::size_t i = 0; i < width.size(); ++i) {
      if (!is_number[i] && width[i] > kLeastText && (widest == width.size() || width[i] > width[widest])) widest = i;
    }
    if (widest == width.size()) return;
    --width[widest];
    --whole;
  }
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
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], columns_of(row[i]));
    for (std::size_t i = 0; i < row.size() && &row != &rows_[0]; ++i) right[i] = right[i] && is_number(row[i]);
  }
  fit(width, right, text_width());
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string cell = fitted(row[i], width[i]);
      const std::string padding(width[i] - columns_of(cell), ' ');
      line += (right[i] ? padding + cell : cell + padding) + std::string(kBetween);
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

}  // namespace cli
