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
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>

namespace trace {

// Spelled as the records' names; nvtx and nccl are all records of these sources. The order is that of kEventRows.
enum class Event : std::uint8_t {
  kernel,
  memcpy,
  memcpy_peer,
  memset,
  graph_node,    // what was open when nodes of CUDA graphs were captured
  graph_launch,  // whole launches of CUDA graphs, instead of their nodes
  runtime,
  driver,
  sync,
  cuda_event,  // what cudaEventRecord recorded, and with runtime its calls
  overhead,
  memory,
  memory_pool,
  device,
  context,
  stream,
  nvtx,
  nccl,
};
inline constexpr std::size_t kEvents = 18;

// A set of events: bit 1 << Event.
using EventSet = std::uint32_t;
constexpr EventSet only(Event event) { return EventSet{1} << static_cast<unsigned>(event); }
constexpr bool has(EventSet set, Event event) { return (set & only(event)) != 0; }

// The sets, each within the next.
inline constexpr const char* kNamedSets[] = {"light", "default", "all"};
enum class FirstSet : std::uint8_t { light, standard, all, none };

struct EventRow {
  const char* name;
  FirstSet first;  // the smallest set that has it
};
inline constexpr EventRow kEventRows[kEvents] = {
    {"kernel", FirstSet::light},      {"memcpy", FirstSet::light},     {"memcpy_peer", FirstSet::light},
    {"memset", FirstSet::light},      {"graph_node", FirstSet::light}, {"graph_launch", FirstSet::none},
    {"runtime", FirstSet::standard},  {"driver", FirstSet::standard},  {"sync", FirstSet::standard},
    {"cuda_event", FirstSet::standard}, {"overhead", FirstSet::standard}, {"memory", FirstSet::all},
    {"memory_pool", FirstSet::all},   {"device", FirstSet::light},     {"context", FirstSet::standard},
    {"stream", FirstSet::standard},   {"nvtx", FirstSet::light},       {"nccl", FirstSet::light},
};

constexpr EventSet events_of(FirstSet set) {
  EventSet events = 0;
  for (std::size_t i = 0; i < kEvents; ++i) events |= EventSet{kEventRows[i].first <= set} << i;
  return events;
}
inline constexpr EventSet kLightEvents = events_of(FirstSet::light);
inline constexpr EventSet kDefaultEvents = events_of(FirstSet::standard);

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
  for (std::size_t i = 0; i < kEvents; ++i) {
    if (word == kEventRows[i].name) return EventSet{1} << i;
  }
  return 0;
}

struct Choice {
  EventSet events = 0;
  EventSet named = 0;  // asked for one by one, not as part of a set
};

inline bool apply(Choice& choice, char sign, std::string_view word) {
  const EventSet set = find_set(word);
  const EventSet event = find_event(word);
  const EventSet both = set | event;
  if (both == 0) return false;
  choice.events = sign == '-' ? choice.events & ~both : choice.events | both;
  choice.named = sign == '-' ? choice.named & ~both : choice.named | event;
  return true;
}

inline bool choose_graphs(Choice& choice) {
  constexpr EventSet kBoth = only(Event::graph_node) | only(Event::graph_launch);
  if ((choice.named & kBoth) == kBoth) return false;
  if (has(choice.events, Event::graph_launch)) choice.events &= ~only(Event::graph_node);
  return true;
}

// `refused`: the word that is none; "" where each is one.
inline bool choose(const char* text, EventSet& events, std::string_view& refused) {
  Choice choice;
  if (*text == '+' || *text == '-') choice.events = kDefaultEvents;
  while (true) {
    const char sign = *text == '-' ? '-' : '+';
    if (*text == '+' || *text == '-') ++text;
    const std::string_view word{text, std::strcspn(text, ",")};
    if (!apply(choice, sign, word)) return refused = word, false;
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
