// Columns of text, aligned by their widest cell; the first row is the head. Numbers are aligned right. Cells pass through visible_text.
// If the terminal is too narrow, the middle of the longest texts is cut.
#pragma once
#include <string>
#include <vector>

namespace cli {

class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row);
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace cli
