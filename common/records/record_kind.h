// The kinds of records, how a record begins, and what a reference is. record.h says what all records share.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trace {

// Its numbers stand with the structs (records/*.h), as kKind. They are never used again for something else: 1 to 15 are
// definitions, 16 to 47 events.
enum class RecordKind : std::uint8_t {
  none = 0  // nothing here yet: the end of what a block or the region holds
};

// Structs of records also have
//   kName      as dump and FORMAT.md call them
//   kCountsAs  the kind of event that they are, by the names of cli/trace/event.h. Without it: none by itself (definitions, ends
//              of ranges, clocks, CUDA events)
//   kChoice    the word of TRACETOOL_EVENTS that asks for them, and the smallest set that has it (event_choice.h)
enum class FirstSet : std::uint8_t { light, standard, all, none };
struct Choice {
  std::string_view word;
  FirstSet first;
};

inline constexpr std::uint32_t kNoRef = 0xffffffffu;
inline constexpr std::uint32_t kLocalRef = 0x80000000u;
inline constexpr std::size_t kEventKinds = 32;  // kinds 16 to 47 are events, counted as kind - 16
inline constexpr std::uint8_t kFirstEventKind = 16;

struct RecordHead {
  std::uint8_t kind;
  std::uint8_t size_words;
};

constexpr bool is_event(std::uint8_t kind) {
  return kind >= kFirstEventKind && kind < kFirstEventKind + kEventKinds;
}

}  // namespace trace
