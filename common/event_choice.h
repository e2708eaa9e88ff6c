// What is recorded: the meaning of TRACETOOL_EVENTS, which is a set, or a list of sets and kinds joined by commas:
//
//   light    what the GPU did, and which GPU it was: kernels, copies, sets, nodes of CUDA graphs, devices; NCCL; NVTX.
//            A launch costs CUPTI's own record and nothing else
//   default  light, and what the host did about it: runtime calls, those driver calls that launch, copy, set or
//            allocate, waits and the CUDA events that they wait for, overhead of CUPTI and the driver, contexts, streams
//   all      default, and memory and memory pools: each allocation and release
//
// A word adds; with `-` before it it takes away. A list that begins with a sign changes the default:
// `light,runtime`, `default,-overhead,+memory`, `-nvtx`, `all,-driver`.
//
// graph_launch is one record for a whole launch of a CUDA graph, in place of its nodes: CUPTI gives no records of nodes
// then. So it takes out a graph_node that came with a set, and both by name are refused.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>

#include "common/record.h"

namespace trace {

// What can be chosen: the kinds of records that have a kChoice. NvtxPushRecord stands for all of NVTX.
using Event = RecordKind;

// A set of events: bit 1 << kind.
using EventSet = std::uint64_t;
constexpr EventSet only(Event event) { return EventSet{1} << static_cast<unsigned>(event); }
constexpr bool has(EventSet set, Event event) { return (set & only(event)) != 0; }

// The sets, each within the next.
inline constexpr const char* kNamedSets[] = {"light", "default", "all"};

struct EventWord {
  Event event;
  std::string_view word;
  FirstSet first;  // the smallest set that has it
};
inline constexpr std::size_t kEvents = [] {
  std::size_t count = 0;
  for_each_record([&]<typename R>(R*) { count += requires { R::kChoice; }; });
  return count;
}();
// In the order of AllRecords.
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

// The text with each {kinds} in it replaced by the words of kEventWords.
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

// False: a word that is no set and no kind, graph_node and graph_launch both by name, or nothing left.
inline bool parse_events(const char* text, EventSet& events) noexcept;
// The first word that is no set and no kind, for a message; "" where each is one, and where a word is missing.
inline std::string_view unknown_word(const char* text) noexcept;

namespace choice {

// What one word means; 0: nothing.
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
  EventSet named = 0;  // asked for one by one, not as part of a set
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

// `refused`: the word that is none; "" where each is one.
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
