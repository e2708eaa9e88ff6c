#include "cli/show/export/clip.h"

#include <algorithm>

namespace cli {

void Clip::derived(const Derived& derived) {
  const TimeWindow window = window_(derived.process);
  if (window.from_ns >= window.to_ns) return;
  return info(derived.track).counter ? value(derived, window) : slice(derived, window);
}

void Clip::slice(const Derived& derived, TimeWindow window) {
  const std::int64_t end_ns = derived.start_ns + derived.duration_ns;
  const bool is_point = derived.duration_ns == 0 && derived.start_ns >= window.from_ns;
  if (derived.start_ns >= window.to_ns || (end_ns <= window.from_ns && !is_point)) return;
  Derived part = derived;
  part.start_ns = std::max(derived.start_ns, window.from_ns);
  part.duration_ns = std::min(end_ns, window.to_ns) - part.start_ns;
  sink_.derived(part);
}

void Clip::value(const Derived& derived, TimeWindow window) {
  const Key key{derived.process, derived.track, derived.device};
  if (derived.start_ns <= window.from_ns) {
    Derived& kept = before_[key] = derived;
    kept.start_ns = window.from_ns;
    return;
  }
  if (const auto kept = before_.find(key); kept != before_.end()) {
    sink_.derived(kept->second);
    before_.erase(kept);
  }
  if (derived.start_ns < window.to_ns) sink_.derived(derived);
}

void Clip::cut(std::int64_t at_ns) {
  std::erase_if(before_, [&](const auto& entry) {
    if (entry.second.start_ns >= at_ns) return false;
    sink_.derived(entry.second);
    return true;
  });
}

void Clip::finish() {
  for (const auto& [key, value] : before_) sink_.derived(value);
  before_.clear();
}

}  // namespace cli
