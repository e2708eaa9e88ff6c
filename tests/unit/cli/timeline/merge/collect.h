// Events as they arrive, with their arguments; and random ones to send.
#pragma once
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "cli/trace/payload.h"

namespace cli {

// A visitor of fields: as text, to compare.
struct FieldText {
  template <typename T>
  void number(const char* name, const T& value, bool = true) {
    text += std::string(name) + '=' + std::to_string(value) + ' ';
  }
  template <typename T>
  void delta(const char* name, const T& value, bool = true) {
    number(name, value);
  }
  template <typename T>
  void hex(const char* name, const T& value, bool = true) {
    number(name, value);
  }
  void string(const char* name, StringId id, bool = true) { number(name, id); }
  template <typename T>
  void id(const char* name, InternedId<T> id, bool = true) {
    number(name, id.value);
  }
  std::string text;
};

inline std::string payload_text(const Facts& facts) {
  FieldText out;
  visit_payload(facts.tag(), facts.data(), [&](const auto& payload) { visit_fields(out, payload); });
  return std::to_string(facts.tag()) + ": " + out.text;
}

// A visitor of fields: any number that fits; ids of lists that have few entries.
struct FillFields {
  template <typename T>
  void number(const char*, T& value, bool = true) {
    if constexpr (std::is_same_v<T, bool>) {
      value = random() % 2 == 0;
    } else if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(random() % 1000) / 7;
    } else {
      value = static_cast<T>(random() % 2 == 0 ? random() : random() % 100);
    }
  }
  template <typename T>
  void delta(const char* name, T& value, bool = true) {
    number(name, value);
  }
  template <typename T>
  void hex(const char* name, T& value, bool = true) {
    number(name, value);
  }
  void string(const char*, StringId& id, bool = true) { id = static_cast<StringId>(random() % 5); }
  template <typename T>
  void id(const char*, InternedId<T>& id, bool = true) {
    id.value = static_cast<std::uint32_t>(random() % 2);
  }
  std::mt19937_64& random;
};

// With a payload of this kind.
inline KeptFacts random_facts(std::uint8_t tag, std::mt19937_64& random) {
  KeptFacts facts;
  for_each_payload([&]<typename P>(P*) {
    if (payload_tag<P>() != tag) return;
    P payload;
    FillFields fill{random};
    visit_fields(fill, payload);
    facts = payload;
  });
  return facts;
}

struct Collected {
  Event event;
  KeptFacts facts;

  auto fields() const {
    const Event& e = event;
    return std::tuple(e.start_ns, e.duration_ns, e.correlation, e.bytes, e.track, e.name, e.category, e.kind, e.phase,
                      e.has_bytes, e.json.args_complete, e.open_start, e.json.no_category, e.json.encloses,
                      e.json.second_ids, e.json.scope, facts.args, payload_text(facts));
  }
  friend bool operator==(const Collected& a, const Collected& b) { return a.fields() == b.fields(); }
};

struct Collect : EventSink {
  void event(const Event& event, const Facts& facts) override { all.push_back({event, facts}); }
  std::vector<Collected> all;
};

// The facts as a reader hands them on that found a shape for arguments like those of random_events.
inline Facts with_shape(const Collected& e, Shapes& shapes, std::int64_t& integer) {
  Facts facts = e.facts;
  if (!e.facts.args.starts_with("\"a\":")) return facts;
  integer = std::stoll(e.facts.args.substr(4));
  facts.args = {}, facts.shape = &shapes.intern("\"a\":\1"), facts.integers = &integer;
  return facts;
}

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
    e.event.json.args_complete = random() % 2 == 0;
    e.event.open_start = random() % 2 == 0;
    e.event.json.no_category = random() % 2 == 0;
    e.event.json.encloses = random() % 2 == 0;
    e.event.json.second_ids = random() % 2 == 0;
    e.event.json.scope = "\0tpg"[random() % 4];
    e.facts = random_facts(static_cast<std::uint8_t>(random() % (kPayloads + 1)), random);
    if (random() % 3 != 0) e.facts.args = "\"a\":" + std::to_string(random() % 50);
  }
  return events;
}

}  // namespace cli
