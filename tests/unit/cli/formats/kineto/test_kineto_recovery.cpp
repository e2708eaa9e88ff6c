// A property: whatever is done to one event of a trace, that one is lost or mended, and the others come out byte for byte. Where no line
// break stands between events, their begins and ends are told by commas and keys only: there the one before it may be lost
// with it, or a part of it be read.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "cli/formats/json/json_check.h"
#include "cli/formats/json/json_damage.h"
#include "tests/case_step.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"

using namespace cli;
using namespace cli::kineto;

namespace {

struct Layout {
  const char *name, *open, *gap, *close;
  bool spaced, lines;
  bool mixed = false;  // events of several shapes, with other first members
};

// Kineto's, json.dump's, and none at all.
const Layout kLayouts[] = {
    {"Kineto", "{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n  ", ",\n  ", "\n  ],\n  \"traceName\": \"t\"\n}",
     true, true},
    {"one line", "{\"traceEvents\": [", ", ", "], \"distributedInfo\": {\"rank\": 2}}", true, false},
    {"compact", "{\"traceEvents\":[", ",", "]}", false, false},
    {"array", "[", ",\n", "]\n", false, true},
    {"mixed, one line", "{\"traceEvents\": [", ", ", "]}", true, false, true},
    {"mixed, compact", "[", ",", "]", false, false, true},
};

// What names can hold: brackets, quotes, events.
const std::vector<std::string> kNames{"aten::mm",
                                      R"(void f<int[4], g({})>(\"x\\\\\", 7))",
                                      R"(}, {\"ph\": \"X\")",
                                      R"(},\n  {\n    \"ph\": \"X\", \"ts\": 1)",
                                      R"(]} [{ ,)",
                                      "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"};

std::string event(std::size_t number, bool spaced) {
  const std::string s = spaced ? " " : "", n = std::to_string(number), break_line = spaced ? "\n    " : "";
  return "{" + break_line + "\"ph\":" + s + "\"X\"," + s + "\"cat\":" + s + "\"cpu_op\"," + s + "\"name\":" + s + "\"" +
         kNames[number % kNames.size()] + "\"," + s + "\"pid\":" + s + "4," + s + "\"tid\":" + s + n + "," + s +
         "\"ts\":" + s + n + ".125," + s + "\"dur\":" + s + "0.5," + break_line + "\"args\":" + s +
         "{\"External id\":" + s + n + ",\"Input Dims\":" + s + "[[1,2],[{\"a\":1},{\"b\":2}]]," + s +
         "\"Process Group Description\":" + s + "\"default_pg\"}" + break_line + "}";
}

std::string flow(std::size_t number, bool spaced) {
  const std::string s = spaced ? " " : "", n = std::to_string(number);
  return "{\"ph\":" + s + "\"s\"," + s + "\"id\":" + s + n + "," + s + "\"pid\":" + s + "4," + s + "\"tid\":" + s + n +
         "," + s + "\"ts\":" + s + n + ".125," + s + "\"cat\":" + s + "\"ac2g\"," + s + "\"name\":" + s + "\"ac2g\"}";
}

std::string named_first(std::size_t number, bool spaced) {
  const std::string s = spaced ? " " : "", n = std::to_string(number);
  return "{\"name\":" + s + "\"" + kNames[number % kNames.size()] + "\"," + s + "\"ph\":" + s + "\"X\"," + s +
         "\"pid\":" + s + "4," + s + "\"tid\":" + s + n + "," + s + "\"ts\":" + s + n + ".125}";
}

std::string event_of(const Layout& layout, std::size_t number) {
  if (layout.mixed && number % 3 == 1) return flow(number, layout.spaced);
  return layout.mixed && number % 3 == 2 ? named_first(number, layout.spaced) : event(number, layout.spaced);
}

using Damage = std::function<void(std::string& text, std::size_t at)>;

struct Way {
  const char* name;
  Damage apply;
};

Way put(const char* name, std::string what) {
  return {name, [what](std::string& text, std::size_t at) { text.insert(at, what); }};
}

const std::vector<Way> kWays{
    put("an unescaped quote", "\""),
    put("a raw newline", "\n"),
    put("a control character", "\x01"),
    put("a byte that is not UTF-8", "\xff"),
    put("NaN", "NaN"),
    put("garbage", "@#garbage@#"),
    put("a bracket", "["),
    put("a closing brace", "}"),
    put("two quotes", "\"quoted\""),
    {"a missing byte", [](std::string& text, std::size_t at) { text.erase(at, 1); }},
    {"a changed byte", [](std::string& text, std::size_t at) { text[at] = '~'; }},
    {"zeros", [](std::string& text, std::size_t at) { text.replace(at, 9, 9, '\0'); }},
    {"a missing rest", [](std::string& text, std::size_t at) { text.erase(at); }},
};

bool reads_alone(const std::string& text) {
  if (find_json_fault(text)) return false;
  return message_of([&] { read_kineto("[" + text + "]"); }).empty();
}

struct Outcome {
  std::uint64_t lost = 0;
  std::vector<std::string> events;  // args, which hold the number of each
};

Outcome read(const std::string& json, std::size_t window) {
  const auto trace = read_kineto(json, "t.json", window);
  Outcome outcome{trace->process().lost_unknown_kind, {}};
  for (const KeptEvent& kept : trace->events) {
    outcome.events.push_back(std::to_string(kept.event.start_ns) + kept.args);
  }
  return outcome;
}

std::string all_of(const Layout& layout, const std::vector<std::string>& events) {
  std::string json = layout.open;
  for (std::size_t i = 0; i < events.size(); ++i) json += (i == 0 ? "" : layout.gap) + events[i];
  return json + layout.close;
}

}  // namespace

TEST_CASE("one damaged event is lost alone, or mended", "[slow]") {
  constexpr std::size_t kEvents = 6;
  std::size_t tried = 0;
  for (const Layout& layout : kLayouts) {
    std::vector<std::string> good;
    for (std::size_t i = 0; i < kEvents; ++i) good.push_back(event_of(layout, i));
    const Outcome whole = read(all_of(layout, good), 1 << 20);
    REQUIRE(whole.events.size() == kEvents);
    for (const Way& way : kWays) {
      for (std::size_t at = 0; at < good[0].size(); at += (1 + (at + tried) % 4) * case_step()) {
        const std::size_t hit = (at + tried) % kEvents, rest = good[0].size() - at;
        std::vector<std::string> events = good;
        if (rest > 10 && at + 10 > good[hit].size()) continue;
        way.apply(events[hit], rest <= 10 ? good[hit].size() - rest : at);  // ends align
        if (events[hit].ends_with(good[hit])) continue;  // what is before an event does not damage it
        if (events[hit].empty()) continue;               // a comma too many
        if (reads_alone(events[hit])) continue;          // "name": "a~b" is another event, and no damage to be seen
        CAPTURE(layout.name, way.name, at, hit, events[hit]);
        const Outcome left = read(all_of(layout, events), ++tried % 2 == 0 ? 200 : 1 << 20);
        std::vector<std::string> expected = whole.events;
        expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(hit));
        if (!layout.lines) {
          REQUIRE(left.events.size() + 2 >= expected.size());
          REQUIRE((left.lost >= 1 || left.events.size() == kEvents));
          continue;
        }
        const bool mended = mend_event(events[hit]).has_value();
        if (mended && left.events.size() == kEvents) {
          REQUIRE(left.lost == 0);
          std::vector<std::string> others = left.events;
          others.erase(others.begin() + static_cast<std::ptrdiff_t>(hit));
          REQUIRE(others == expected);
          continue;
        }
        REQUIRE(left.events == expected);
        REQUIRE(left.lost == 1);
      }
    }
  }
  CHECK(tried > 2000 / case_step());
}

TEST_CASE("sound events between two that have a quote too many are kept") {
  for (const Layout& layout : kLayouts) {
    if (!layout.lines) continue;
    std::vector<std::string> good;
    for (std::size_t i = 0; i < 9; ++i) good.push_back(event_of(layout, i));
    std::vector<std::string> kept = read(all_of(layout, good), 1 << 20).events;
    REQUIRE(kept.size() == 9);
    kept.erase(kept.begin() + 5);
    kept.erase(kept.begin() + 2);
    for (std::size_t at = 1; at < good[0].size() - 1; at += 1 + 4 * case_step()) {
      std::vector<std::string> events = good;
      for (const std::size_t hit : {2u, 5u}) events[hit].insert(std::min(at, events[hit].size() - 1), "\"");
      if (reads_alone(events[2]) || reads_alone(events[5])) continue;
      CAPTURE(layout.name, at, events[2]);
      const Outcome left = read(all_of(layout, events), at % 2 == 0 ? 200 : 1 << 20);
      for (const std::string& event : kept) CHECK(std::count(left.events.begin(), left.events.end(), event) == 1);
      CHECK(left.lost + left.events.size() >= 9);   // each of the two is lost, or mended
      CHECK(left.lost + left.events.size() <= 10);  // a name may look like events
    }
  }
}
