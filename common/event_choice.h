// Parses TRACETOOL_EVENTS, which selects what is recorded: a set, or a list of sets and kinds separated by commas.
//
//   light    GPU work and the GPU it ran on: kernels, copies, memsets, nodes of CUDA graphs, devices; NCCL; NVTX.
//            A launch costs only CUPTI's own record
//   default  light, and host activity: runtime calls, driver calls that launch, copy, set or allocate, waits and the
//            CUDA events that they wait for, overhead of CUPTI and the driver, contexts, streams
//   all      default, and memory and memory pools: each allocation and release
//
// A word adds, a word with `-` removes. A list that begins with a sign changes the default: `light,runtime`,
// `default,-overhead,+memory`, `-nvtx`, `all,-driver`.
//
// graph_launch is one record per launch of a whole CUDA graph instead of records of its nodes, because CUPTI then
// records no nodes. It therefore removes a graph_node that came with a set; naming both is an error.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>

#include "common/record.h"

namespace trace {

// The kinds of records that can be chosen: those with a kChoice. NvtxPushRecord represents all of NVTX.
using Event = RecordKind;

// A set of events: bit 1 << kind.
using EventSet = std::uint64_t;
constexpr EventSet only(Event event) { return EventSet{1} << static_cast<unsigned>(event); }
constexpr bool has(EventSet set, Event event) { return (set & only(event)) != 0; }

// The sets. Each contains the one before it.
inline constexpr const char* kNamedSets[] = {"light", "default", "all"};

struct EventWord {
  Event event;
  std::string_view word;
  FirstSet first;  // the smallest set that contains it
};
inline constexpr std::size_t kEvents = [] {
  std::size_t count = 0;
  for_each_record([&]<typename R>(R*) { count += requires { R::kChoice; }; });
  return count;
}();
// Sorted like AllRecords.
inline constexpr auto kEventWords = [] {
  std::array<EventWord, kEvents> rows{};
  std::size_t at = 0;
  for_each_record([&]<typename R>(R*) {
    if constexpr (requires { R::kChoice; }) rows[at++] = {R::kKind, R::kChoice.word, R::kChoice.first};
  });
  return rows;
}();

constexpr EventSet events_of(FirstSet set) {
  EventSet events = 0;
  for (const EventWord& each : kEventWords) events |= each.first <= set ? only(each.event) : 0;
  return events;
}
inline constexpr EventSet kLightEvents = events_of(FirstSet::light);
inline constexpr EventSet kDefaultEvents = events_of(FirstSet::standard);

// Returns the text with each {kinds} replaced by the words of kEventWords.
template <std::size_t Size>
constexpr std::array<char, Size + kEvents * 16> with_kinds(const char (&text)[Size]) {
  std::array<char, Size + kEvents * 16> out{};
  std::size_t at = 0;
  const std::string_view whole(text), mark = "{kinds}";
  const std::size_t begin = whole.find(mark);
  const auto add = [&](std::string_view part) {
    for (const char c : part) out[at++] = c;
  };
  add(whole.substr(0, begin));
  for (const EventWord& each : kEventWords) {
    if (each.event != kEventWords[0].event) add(", ");
    add(each.word);
  }
  add(whole.substr(begin + mark.size()));
  return out;
}

// Returns false if a word is neither a set nor a kind, if graph_node and graph_launch are both named, or if no kind is
// left.
inline bool parse_events(const char* text, EventSet& events) noexcept;
// Returns the first word that is neither a set nor a kind, for a message; "" if there is none or a word is missing.
inline std::string_view unknown_word(const char* text) noexcept;

namespace choice {

// Returns the kinds of one word; 0 if it is unknown.
inline EventSet find_set(std::string_view word) {
  for (std::size_t i = 0; i < std::size(kNamedSets); ++i) {
    if (word == kNamedSets[i]) return events_of(static_cast<FirstSet>(i));
  }
  return 0;
}

inline EventSet find_event(std::string_view word) {
  for (const EventWord& each : kEventWords) {
    if (word == each.word) return only(each.event);
  }
  return 0;
}

struct Chosen {
  EventSet events = 0;
  EventSet named = 0;  // named one by one instead of as part of a set
};

inline bool apply(Chosen& choice, char sign, std::string_view word) {
  const EventSet set = find_set(word);
  const EventSet event = find_event(word);
  const EventSet both = set | event;
  if (both == 0) return false;
  choice.events = sign == '-' ? choice.events & ~both : choice.events | both;
  choice.named = sign == '-' ? choice.named & ~both : choice.named | event;
  return true;
}

inline bool choose_graphs(Chosen& choice) {
  constexpr EventSet kBoth = only(GraphNodeRecord::kKind) | only(GraphLaunchRecord::kKind);
  if ((choice.named & kBoth) == kBoth) return false;
  if (has(choice.events, GraphLaunchRecord::kKind)) choice.events &= ~only(GraphNodeRecord::kKind);
  return true;
}

// `refused` is set to the unknown word; "" if there is none.
inline bool choose(const char* text, EventSet& events, std::string_view& refused) {
  Chosen choice;
  if (*text == '+' || *text == '-') choice.events = kDefaultEvents;
  while (true) {
    const char sign = *text == '-' ? '-' : '+';
    if (*text == '+' || *text == '-') ++text;
    const std::string_view word{text, std::strcspn(text, ",")};
    if (!apply(choice, sign, word)) {
      refused = word;
      return false;
    }
    text += word.size();
    if (*text == '\0') break;
    ++text;
  }
  if (!choose_graphs(choice) || choice.events == 0) return false;
  events = choice.events;
  return true;
}

}  // namespace choice

inline bool parse_events(const char* text, EventSet& events) noexcept {
  std::string_view refused;
  return choice::choose(text, events, refused);
}

inline std::string_view unknown_word(const char* text) noexcept {
  EventSet events = 0;
  std::string_view refused;
  choice::choose(text, events, refused);
  return refused;
}

}  // namespace trace
