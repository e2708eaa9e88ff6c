// Frames of stacks (trace::FrameRecord), each defined once in the definitions region, and found again by what its owner knows it by.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/base/lock.h"
#include "common/record.h"

namespace agent {

struct FrameKey {
  std::uint64_t words[4];
  friend bool operator==(const FrameKey&, const FrameKey&) = default;
};

// Of fixed size: where all places are taken a frame is not remembered, and defined again.
class FrameTable {
 public:
  // kNoRef: it is not defined yet. For any thread.
  std::uint32_t find(const FrameKey& key) const noexcept;
  // With its names; "" where there is none. kNoRef: there is no room, or other threads define so much at this moment. Never waits for long.
  std::uint32_t define(const FrameKey& key, std::string_view name, std::string_view file, trace::FrameRecord record) noexcept;

 private:
  struct Known {
    FrameKey key;
    std::atomic<std::uint32_t> ref;  // written last; 0: free. The region begins with other definitions, so none has reference 0
  };
  static constexpr std::size_t kKnown = 1 << 14, kTries = 8;
  static std::size_t slot_of(const FrameKey& key) noexcept;
  void remember(const FrameKey& key, std::uint32_t ref) noexcept;

  Spinlock lock_;
  Known known_[kKnown]{};
};

// The frames of the stack that a thread had last, by their place from the outermost: its next stack has most of them again, as all
// operators inside another one have the same, and a comparison costs less than a search. What it was made from is all zero.
struct RecentFrames {
  static constexpr std::size_t kMost = 64;
  FrameKey keys[kMost];
  std::uint32_t refs[kMost];  // 0: none

  // kNoRef: the last stack had another frame, or none, there.
  std::uint32_t find(std::size_t place, const FrameKey& key) const noexcept {
    return refs[place] != 0 && keys[place] == key ? refs[place] : trace::kNoRef;
  }
  void remember(std::size_t place, const FrameKey& key, std::uint32_t ref) noexcept {
    keys[place] = key;
    refs[place] = ref;
  }
};

}  // namespace agent
