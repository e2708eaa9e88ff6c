#include "agent/base/event_choice.h"

#include <cstdio>
#include <cstring>
#include <iterator>

#include "agent/base/settings.h"

namespace agent {
namespace {

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
  for (const EventRow& row : kEventRows) {
    const EventSet bit = only(row.event);
    if ((of_base & bit) == (events & bit)) continue;
    const char* sign = (events & bit) != 0 ? (base != nullptr ? ",+" : ",") : ",-";
    out.add(text[0] == '\0' ? "" : sign, row.word.data());
  }
}

// As parse_events would understand it: graph_launch takes graph_node out.
EventSet without_replaced(EventSet of_base, EventSet events) {
  return has(events, trace::GraphLaunchRecord::kKind) ? of_base & ~only(trace::GraphNodeRecord::kKind) : of_base;
}

}  // namespace

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

EventSet light_part(EventSet events) noexcept { return events & (kLightEvents | only(trace::GraphLaunchRecord::kKind)); }

}  // namespace agent
