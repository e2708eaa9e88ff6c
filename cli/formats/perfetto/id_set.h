// Which numbers a sequence has been told the meaning of: a bit each, in pages that are made when they are needed.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace cli::perfetto {

class IdSet {
 public:
  // False: it was there.
  bool insert(std::uint32_t id) {
    const std::size_t page = id / kPageBits;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique<Page>();
    std::uint64_t& word = (*pages_[page])[id % kPageBits / 64];
    const std::uint64_t bit = std::uint64_t{1} << id % 64;
    if ((word & bit) != 0) return false;
    word |= bit;
    return true;
  }

 private:
  static constexpr std::size_t kPageBits = 512;
  using Page = std::array<std::uint64_t, kPageBits / 64>;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace cli::perfetto
