#include "agent/event_choice.h"

#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>

#include "agent/settings.h"

namespace agent {
namespace {

// What one word means; 0: nothing.
EventSet find_set(std::string_view word) {
  for (std::size_t i = 0; i < std::size(kNamedSets); ++i) {
    if (word == kNamedSets[i]) return events_of(static_cast<FirstSet>(i));
  }
  return 0;
}

EventSet find_event(std::string_view word) {
  for (std::size_t i = 0; i < kEvents; ++i) {
    if (word == kEventRows[i].name) return EventSet{1} << i;
  }
  return 0;
}

struct Choice {
  EventSet events = 0;
  EventSet named = 0;  // asked for one by one, not as part of a set
};

bool apply(Choice& choice, char sign, std::string_view word) {
  const EventSet set = find_set(word);
  const EventSet event = find_event(word);
  const EventSet both = set | event;
  if (both == 0) return false;
  choice.events = sign == '-' ? choice.events & ~both : choice.events | both;
  choice.named = sign == '-' ? choice.named & ~both : choice.named | event;
  return true;
}

bool choose_graphs(Choice& choice) {
  constexpr EventSet kBoth = only(Event::graph_node) | only(Event::graph_launch);
  if ((choice.named & kBoth) == kBoth) return false;
  if (has(choice.events, Event::graph_launch)) choice.events &= ~only(Event::graph_node);
  return true;
}

// Text that is cut where it does not fit.
struct Text {
  char* at;
  std::size_t left;

  void add(const char* before, const char* word) {
    const int length = snprintf(at, left, "%s%s", before, word);
    const std::size_t used = static_cast<std::size_t>(length) < left ? static_cast<std::size_t>(length) : left - 1;
    at += used;
    left -= used;
  }
};

// `base` (null: nothing) and what differs from it.
void write_from(const char* base, EventSet of_base, EventSet events, char* text, std::size_t size) {
  Text out{text, size};
  text[0] = '\0';
  if (base != nullptr) out.add("", base);
  for (std::size_t i = 0; i < kEvents; ++i) {
    const EventSet bit = EventSet{1} << i;
    if ((of_base & bit) == (events & bit)) continue;
    const char* sign = (events & bit) != 0 ? (base != nullptr ? ",+" : ",") : ",-";
    out.add(text[0] == '\0' ? "" : sign, kEventRows[i].name);
  }
}

// As parse_events would understand it: graph_launch takes graph_node out.
EventSet without_replaced(EventSet of_base, EventSet events) {
  return has(events, Event::graph_launch) ? of_base & ~only(Event::graph_node) : of_base;
}

// `refused`: the word that is none; "" where each is one.
bool choose(const char* text, EventSet& events, std::string_view& refused) {
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

}  // namespace

bool parse_events(const char* text, EventSet& events) noexcept {
  std::string_view refused;
  return choose(text, events, refused);
}

std::string_view unknown_word(const char* text) noexcept {
  EventSet events = 0;
  std::string_view refused;
  choose(text, events, refused);
  return refused;
}

void write_events(EventSet events, char* text, std::size_t size) noexcept {
  char candidate[256];
  write_from(nullptr, 0, events, text, size);
  std::size_t shortest = std::strlen(text) + 1 < size ? std::strlen(text) : size;
  for (std::size_t i = 0; i < std::size(kNamedSets); ++i) {
    write_from(kNamedSets[i], without_replaced(events_of(static_cast<FirstSet>(i)), events), events, candidate,
               sizeof(candidate));
    if (std::strlen(candidate) >= shortest) continue;
    shortest = std::strlen(candidate);
    snprintf(text, size, "%s", candidate);
  }
}

bool wants(Event event) noexcept { return has(settings().events, event); }

EventSet light_part(EventSet events) noexcept { return events & (kLightEvents | only(Event::graph_launch)); }

}  // namespace agent
