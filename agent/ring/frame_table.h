// Caches that find frames (trace::FrameRecord) by key. A key must identify the same frame for the lifetime of the process: a key with an address
// also needs an identity of the object at that address.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/record.h"

namespace agent {

struct FrameKey {
  static constexpr std::size_t kWords = 4;
  std::uint64_t words[kWords];
  friend bool operator==(const FrameKey&, const FrameKey&) = default;
};

// Frames of the definitions region. Fixed size; new entries replace old ones. Lock-free, for any thread; an entry being replaced is not found.
class FrameTable {
 public:
  std::uint32_t find(const FrameKey& key) const noexcept;  // kNoRef if it is not there
  void remember(const FrameKey& key, std::uint32_t ref) noexcept;

 private:
  struct Known {
    std::atomic<std::uint32_t> turn;  // odd while the entry is replaced
    std::atomic<std::uint32_t> ref;   // 0: free. The region begins with other definitions, so none has reference 0
    std::atomic<std::uint64_t> words[FrameKey::kWords];
  };
  static constexpr std::size_t kKnown = 1 << 14, kTries = 4;

  std::atomic<std::uint32_t> replaced_{0};
  Known known_[kKnown]{};
};

// The frames of the stack that a thread had last, by their place from the outermost: its next stack has most of them again, as all
// operators inside another one have the same, and a comparison costs less than a search. What it was made from is all zero.
struct RecentFrames {
  static constexpr std::size_t kMost = 64;
  FrameKey keys[kMost];
  std::uint64_t tickets[kMost];  // of the block that defines the frame; 0: the definitions region
  std::uint32_t refs[kMost];     // 0: none

  // Returns kNoRef if the last stack had no such frame there, or one defined in another block.
  std::uint32_t find(std::size_t place, const FrameKey& key, std::uint64_t ticket) const noexcept {
    const bool is_known = refs[place] != 0 && (tickets[place] == 0 || tickets[place] == ticket) && keys[place] == key;
    return is_known ? refs[place] : trace::kNoRef;
  }
  void remember(std::size_t place, const FrameKey& key, std::uint32_t ref, std::uint64_t ticket) noexcept {
    keys[place] = key;
    tickets[place] = ticket;
    refs[place] = ref;
  }
};

}  // namespace agent
