// Columns of text, aligned by their widest cell; the first row is the head. Numbers are aligned right. Cells pass through visible_text.
// On a terminal that is too narrow the widest texts are cut in their middle.
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
