// Texts to small numbers from 1, the same for the whole file, so that what refers to them can be made once. It takes a
// limited number of them: what comes later is not interned, and memory stays flat whatever a trace holds.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace cli::perfetto {

// Eight bytes at a time: most texts are short, and there is one or more for every argument.
std::uint64_t hash_of(std::string_view text);

class TextIds {
 public:
  TextIds(std::size_t most_texts, std::size_t most_bytes) : most_texts_(most_texts), most_bytes_(most_bytes) {}

  // 0: not known, and no room is left.
  std::uint32_t id(std::string_view text);
  // Good as long as this.
  std::string_view text(std::uint32_t id) const { return texts_[id - 1]; }
  std::size_t size() const { return texts_.size(); }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t id = 0;  // 0: free
  };
  void grow();

  std::size_t most_texts_, most_bytes_, bytes_ = 0;
  std::vector<Slot> slots_ = std::vector<Slot>(256);  // a power of two, at most half full
  std::deque<std::string> texts_;
};

}  // namespace cli::perfetto
