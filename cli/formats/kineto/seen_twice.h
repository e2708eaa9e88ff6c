// Tells texts that come again from those that come once, in a fixed amount of memory. A text that was seen long ago may be
// taken for a new one, and, hardly ever, a new one for one that was seen.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace cli {

class SeenTwice {
 public:
  // How many texts are remembered at most: 4 bytes each, once the first was asked for.
  explicit SeenTwice(std::size_t texts) : size_(texts) {}

  // Whether it was seen before. Remembers it.
  bool operator()(std::string_view text) {
    if (marks_.empty()) marks_.resize(size_);
    const std::size_t hash = std::hash<std::string_view>{}(text);
    const auto mark = static_cast<std::uint32_t>(hash >> 32 | 1);
    std::uint32_t& seen = marks_[hash % size_];
    if (seen == mark) return true;
    seen = mark;
    return false;
  }

 private:
  std::size_t size_;
  std::vector<std::uint32_t> marks_;
};

}  // namespace cli
