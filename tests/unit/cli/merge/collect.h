// Events as they arrive, with their arguments; and random ones to send.
#pragma once
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "cli/model/event.h"

namespace cli {

struct Collected {
  Event event;
  std::string args;

  auto fields() const {
    const Event& e = event;
    return std::tuple(e.start_ns, e.duration_ns, e.correlation, e.bytes, e.track, e.name, e.category, e.kind, e.phase,
                      e.has_bytes, e.args_complete, e.open_start, e.no_category, e.encloses, e.second_row, e.scope,
                      args);
  }
  friend bool operator==(const Collected& a, const Collected& b) { return a.fields() == b.fields(); }
};

struct Collect : EventSink {
  void event(const Event& event, std::string_view args) override { all.push_back({event, std::string(args)}); }
  std::vector<Collected> all;
};

inline std::vector<Collected> random_events(std::size_t count, std::uint32_t seed, std::int64_t times = 1000) {
  std::mt19937_64 random(seed);
  std::vector<Collected> events(count);
  for (Collected& e : events) {
    e.event.start_ns = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(times));
    e.event.duration_ns = static_cast<std::int64_t>(random() % 4) - 1;
    e.event.correlation = random() % 3 == 0 ? random() : random() % 100;
    e.event.track = static_cast<TrackId>(random() % 3);
    e.event.name = static_cast<StringId>(random() % 5);
    e.event.category = static_cast<StringId>(random() % 2);
    e.event.kind = static_cast<Kind>(random() % static_cast<std::uint64_t>(Kind::count_));
    e.event.phase = "XiC"[random() % 3];
    e.event.has_bytes = random() % 2 == 0;
    if (e.event.has_bytes) e.event.bytes = random();
    e.event.args_complete = random() % 2 == 0;
    e.event.open_start = random() % 2 == 0;
    e.event.no_category = random() % 2 == 0;
    e.event.encloses = random() % 2 == 0;
    e.event.second_row = random() % 2 == 0;
    e.event.scope = "\0tpg"[random() % 4];
    if (random() % 3 != 0) e.args = "\"a\":" + std::to_string(random() % 50);
  }
  return events;
}

}  // namespace cli
