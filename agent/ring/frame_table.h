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

// The frames that a thread had in its latest stacks. A training step has the same frames again and again, so that most of a stack is found
// here, without a search and, while `proof` holds, without the frame's key. Zeroed memory is an empty cache.
struct RecentFrames {
  // A call of a module has the module's address and a hash of its class's name, another frame how far the code has come.
  struct Place {
    const void* code;
    const void* module;  // null if it is no module call
    std::uint64_t class_or_offset;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Known {
    Place place;
    std::uint64_t proof;  // the objects of `place` are those of `key` while the caller's proof has this value; 0: never
    FrameKey key;
    std::uint64_t ticket;  // of the block that defines the frame; 0: the definitions region
    std::uint32_t ref;     // 0: free

    bool is_in(std::uint64_t block) const noexcept { return ref != 0 && (ticket == 0 || ticket == block); }
  };

  Known& at(const Place& place) noexcept {
    const auto mixed = (reinterpret_cast<std::uintptr_t>(place.code) ^ reinterpret_cast<std::uintptr_t>(place.module) * 31 ^ place.class_or_offset << 20) * 0x9e3779b97f4a7c15u;
    return known_[mixed >> (64 - kBits)];
  }

 private:
  static constexpr unsigned kBits = 8;
  Known known_[1u << kBits];
};

}  // namespace agent
