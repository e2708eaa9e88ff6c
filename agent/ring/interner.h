// Assigns references to names and launch configurations. A value seen for the first time is defined in the block that
// uses it; one that recurs in another block is promoted to the definitions region. Memory is fixed, so the table
// forgets entries. A hit is always verified byte by byte, so two names never become one.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "agent/base/lock.h"
#include "common/definitions.h"
#include "common/hash.h"
#include "common/record.h"

namespace agent {

// Caches that find frames (trace::FrameRecord) by key. A key must identify the same frame for the lifetime of the
// process: a key with an address also needs an identity of the object at that address.
struct FrameKey {
  static constexpr std::size_t kWords = 4;
  std::uint64_t words[kWords];
  friend bool operator==(const FrameKey&, const FrameKey&) = default;
};

// Frames of the definitions region. Fixed size; new entries replace old ones. Lock-free, for any thread; an entry being
// replaced is not found.
class FrameTable {
 public:
  std::uint32_t find(const FrameKey& key) const noexcept;  // kNoRef if not found
  void remember(const FrameKey& key, std::uint32_t ref) noexcept;

 private:
  struct Known {
    std::atomic<std::uint32_t> turn;  // odd while the entry is replaced
    std::atomic<std::uint32_t> ref;  // 0 if free; the region begins with other definitions, so no frame has reference 0
    std::atomic<std::uint64_t> words[FrameKey::kWords];
  };
  static constexpr std::size_t kKnown = 1 << 14, kTries = 4;

  std::atomic<std::uint32_t> replaced_{0};
  Known known_[kKnown]{};
};

// The frames in a thread's latest stacks. A training step has the same frames repeatedly, so most frames of a stack are
// found here, without a search and, while `proof` is unchanged, without computing the frame's key. Zeroed memory is an
// empty cache.
struct RecentFrames {
  // For a module call: the module's address and a hash of its class name; for another frame, the offset in the code.
  struct Place {
    const void* code;
    const void* module;  // null if it is no module call
    std::uint64_t class_or_offset;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Known {
    Place place;
    // While the caller's proof has this value, the objects of `place` are those of `key`; 0 if never
    std::uint64_t proof;
    FrameKey key;
    std::uint64_t ticket;  // of the block that defines the frame; 0 for the definitions region
    std::uint32_t ref;     // 0 if free

    bool is_in(std::uint64_t block) const noexcept { return ref != 0 && (ticket == 0 || ticket == block); }
  };

  Known& at(const Place& place) noexcept {
    const auto mixed = trace::spread(reinterpret_cast<std::uintptr_t>(place.code) ^
                                     reinterpret_cast<std::uintptr_t>(place.module) * 31 ^ place.class_or_offset << 20);
    return known_[mixed >> (64 - kBits)];
  }

 private:
  static constexpr unsigned kBits = 8;
  Known known_[1u << kBits];
};

using Writer = trace::BlockWriter<>;

// Returns the record to which a record of the writer's block refers.
inline const std::byte* record_at(const trace::Ring& ring, const Writer& writer, std::uint32_t ref) {
  return (trace::is_local(ref) ? writer.payload() : ring.definitions()) + trace::ref_offset(ref);
}
// Returns the text of a string record.
inline std::string_view text_at(const std::byte* record) {
  trace::StringRecord head;
  std::memcpy(&head, record, sizeof(head));
  return {reinterpret_cast<const char*>(record) + sizeof(head), head.length};
}

// Returns the maximum length of a name; longer ones are cut. Leaves room for its record in the smallest block.
std::size_t longest_name(const trace::Ring& ring) noexcept;

// Returns the first `most` bytes. Does not use substr(), whose range check requires libstdc++ if it is not inlined.
inline std::string_view clipped(std::string_view text, std::size_t most) {
  return {text.data(), text.size() < most ? text.size() : most};
}

// Reserved in the region for identity, devices and API names, which cannot be stored elsewhere.
inline constexpr std::size_t kNamesReserve = 8192;
// Part of the region that frames, stacks, input lists and module names must leave free, so that kernel and range names
// have room in programs that create new code and models for days.
inline std::size_t stacks_reserve(const trace::Ring& ring) { return ring.header->definitions_bytes / 2; }

// Maximum size of a definition and a reference to it in a block, to be passed to Writer::make_room before.
constexpr std::size_t string_room(std::size_t length) { return sizeof(trace::StringRecord) + (length + 7) / 8 * 8; }

// A launch configuration; the interner sets name_ref.
struct Shape {
  trace::LaunchShapeRecord record;
  std::string_view name;
};

// A frame; the interner sets name_ref and file_ref. Names have at most kMost bytes; "" means none.
struct Frame {
  static constexpr std::size_t kMost = 1024;
  trace::FrameRecord record;
  std::string_view name, file;
};
constexpr std::size_t frame_room(std::size_t names_bytes) {
  return sizeof(trace::FrameRecord) + 2 * string_room(0) + 16 + names_bytes;
}

class Interner {
 public:
  // These three need room in the writer's block (string_room, plus sizeof(LaunchShapeRecord) for a shape; frame_room),
  // and the lock held. Definitions that recur in another block go to the region if at least `keep_free` bytes remain.
  std::uint32_t string(const trace::Ring& ring, Writer& writer, std::string_view text,
                       std::size_t keep_free = kNamesReserve) noexcept;
  std::uint32_t shape(const trace::Ring& ring, Writer& writer, const Shape& shape) noexcept;
  std::uint32_t frame(const trace::Ring& ring, Writer& writer, const Frame& frame) noexcept;
  // Defines the string in the region. Returns kNoRef if less than `keep_free` bytes would remain. Needs the lock.
  std::uint32_t permanent_string(const trace::Ring& ring, std::string_view text,
                                 std::size_t keep_free = kNamesReserve) noexcept;

  Spinlock& lock() noexcept { return lock_; }

 private:
  // The last location of a definition with this hash. ticket is 0 if it is in the region.
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

// The same without a table, for a thread that could not get the lock: always defines in the block.
std::uint32_t define_string(Writer& writer, std::string_view text) noexcept;
std::uint32_t define_frame(Writer& writer, const Frame& frame) noexcept;

// Defines a string in the region, leaving `keep_free` bytes. Returns kNoRef if there is no room. Needs the lock.
std::uint32_t define_string(const trace::Ring& ring, std::size_t keep_free, std::string_view text) noexcept;

}  // namespace agent
