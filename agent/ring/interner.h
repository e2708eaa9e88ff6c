// Gives names and launch configurations their references. What is seen for the first time is defined in the block that uses
// it; what comes back from another block is promoted to the definitions region. Memory is fixed: a table that forgets.
// A hit is always verified byte by byte, so two names never become one.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/hash.h"
#include "agent/base/lock.h"
#include "common/definitions.h"
#include "common/record.h"

namespace agent {

// Caches that find frames (trace::FrameRecord) by key. A key must identify the same frame for the lifetime of the process: a key with an address
// also needs an identity of the object at that address.
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
    const auto mixed = trace::spread(reinterpret_cast<std::uintptr_t>(place.code) ^ reinterpret_cast<std::uintptr_t>(place.module) * 31 ^ place.class_or_offset << 20);
    return known_[mixed >> (64 - kBits)];
  }

 private:
  static constexpr unsigned kBits = 8;
  Known known_[1u << kBits];
};

using Writer = trace::BlockWriter<>;

// The longest name that is kept; a longer one is cut. Leaves room for its record in the smallest block.
std::size_t longest_name(const trace::Ring& ring) noexcept;

// The first `most` bytes. Not substr(), whose check of the place wants libstdc++ where it is not inlined.
inline std::string_view clipped(std::string_view text, std::size_t most) {
  return {text.data(), text.size() < most ? text.size() : most};
}

// Kept free in the region for identity, devices and API names, which have no other place.
inline constexpr std::size_t kNamesReserve = 8192;
// Part of the region that frames, stacks, input lists and module names must leave free. Kernel and range names keep their room in programs that
// create new code and models for days.
inline std::size_t stacks_reserve(const trace::Ring& ring) { return ring.header->definitions_bytes / 2; }

// What a definition and a reference to it need at most in a block: call Writer::make_room with this much before.
constexpr std::size_t string_room(std::size_t length) { return sizeof(trace::StringRecord) + (length + 7) / 8 * 8; }

// A launch configuration as the caller has it: name_ref is filled in by the interner.
struct Shape {
  trace::LaunchShapeRecord record;
  std::string_view name;
};

// A frame as the caller has it: the interner fills in name_ref and file_ref. Names have at most kMost bytes; "" means none.
struct Frame {
  static constexpr std::size_t kMost = 1024;
  trace::FrameRecord record;
  std::string_view name, file;
};
constexpr std::size_t frame_room(std::size_t names_bytes) { return sizeof(trace::FrameRecord) + 2 * string_room(0) + 16 + names_bytes; }

class Interner {
 public:
  // All three need room in the writer's block (string_room, plus sizeof(LaunchShapeRecord) for a shape; frame_room), and the lock held.
  // Definitions that recur in another block go to the region if at least `keep_free` bytes remain.
  std::uint32_t string(const trace::Ring& ring, Writer& writer, std::string_view text, std::size_t keep_free = kNamesReserve) noexcept;
  std::uint32_t shape(const trace::Ring& ring, Writer& writer, const Shape& shape) noexcept;
  std::uint32_t frame(const trace::Ring& ring, Writer& writer, const Frame& frame) noexcept;
  // Defines the string in the region. Returns kNoRef if less than `keep_free` bytes would remain. Needs the lock.
  std::uint32_t permanent_string(const trace::Ring& ring, std::string_view text, std::size_t keep_free = kNamesReserve) noexcept;

  Spinlock& lock() noexcept { return lock_; }

 private:
  // Where a definition with this hash was last put. ticket 0: in the region.
  struct Slot {
    std::uint64_t hash;
    std::uint64_t ticket;
    std::uint32_t ref;
    std::uint32_t kind;
  };
  static constexpr std::size_t kWays = 4;
  static constexpr std::size_t kSets = 4096;

  template <typename Equal>
  Slot* find(std::uint64_t hash, trace::RecordKind kind, std::uint64_t ticket, bool& seen, const Equal& equal) noexcept;
  Slot* victim(std::uint64_t hash) noexcept;
  template <typename Equal, typename InRegion, typename InBlock>
  std::uint32_t intern(std::uint64_t hash, trace::RecordKind kind, Writer& writer, const Equal& equal,
                       const InRegion& in_region, const InBlock& in_block) noexcept;

  Spinlock lock_;
  std::uint32_t clock_ = 0;
  Slot slots_[kSets * kWays]{};
};

// The same without a table, for a thread that could not get the lock: always a definition in the block.
std::uint32_t define_string(Writer& writer, std::string_view text) noexcept;
std::uint32_t define_frame(Writer& writer, const Frame& frame) noexcept;

// Defines a string in the region, with `keep_free` bytes to remain. kNoRef: there is no room. Under the lock.
std::uint32_t define_string(const trace::Ring& ring, std::size_t keep_free, std::string_view text) noexcept;

}  // namespace agent
