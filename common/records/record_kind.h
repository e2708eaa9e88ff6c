// The kinds of records, the head of a record, and references. record.h describes what all records have in common.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trace {

// The numbers are in the structs (records/*.h), as kKind, and are never reused; FORMAT.md lists the used ones. 1 to 15 are
// definitions (all used), 16 to 47 are events.
enum class RecordKind : std::uint8_t {
  none = 0  // no record: the end of the contents of a block or the region
};

// Structs of records also have
//   kName      the name in dump and FORMAT.md
//   kCountsAs  the kind of event that they count as, named as in cli/trace/event.h. Absent if they are no event
//              (definitions, ends of ranges, clocks, CUDA events)
//   kByAgent   true if only the agent's own thread writes them (clocks, notices)
//   kChoice    the word of TRACETOOL_EVENTS that requests them, and the smallest set that contains it (event_choice.h)
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
