// Whatever the events, each is in the picture or counted; the picture is checked by an independent reader in
// tests/integration/check_chrome_json.py.
#include <map>
#include <random>

#include "small_trace.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

void add_random(SmallTrace& t, const std::vector<TrackId>& tracks, std::mt19937& random) {
  const TrackId track = tracks[random() % tracks.size()];
  const std::int64_t start = random() % 2000;
  const std::uint64_t id = random() % 200;
  const auto kind = static_cast<Kind>(random() % static_cast<unsigned>(Kind::count_));
  if (kind == Kind::flow) {
    t.point(track, kind, "stf"[random() % 3], random() % 2 ? "ac2g" : "fwdbwd", start, id);
  } else if (kind == Kind::counter || kind == Kind::instant) {
    t.point(track, kind, kind == Kind::counter ? 'C' : 'i', "point", start);
  } else {
    t.add(track, kind, "slice", start, random() % 20 == 0 ? kUnknownDuration : random() % 100, id);
  }
}

SmallTrace random_trace(unsigned seed) {
  std::mt19937 random(seed);
  SmallTrace t;
  std::vector<TrackId> tracks;
  for (int rank = 0; rank < 2; ++rank) {
    const ProcessId p = t.process(rank, rank == 1);
    for (const TrackId id : {t.thread(p, 1), t.thread(p, 2), t.stream(p, 1), t.stream(p, 7)}) tracks.push_back(id);
  }
  for (int i = 0; i < 1000; ++i) add_random(t, tracks, random);
  return t;
}

}  // namespace

TEST_CASE("conservation: events in = slices + instants + counters + flows", "[property][slow]") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    SmallTrace t = random_trace(seed);
    const std::string text = t.json();
    const ExportSummary& s = t.summary;
    REQUIRE(s.balanced());
    REQUIRE(s.events_in == t.events.size());
    REQUIRE(count(text, "\"ph\":\"X\"") == s.slices_out);
    REQUIRE(count(text, "\"ph\":\"i\"") == s.instants_out);
    REQUIRE(count(text, "\"ph\":\"C\"") == s.counters_out);
    REQUIRE(count(text, "\"ph\":\"f\"") + count(text, "\"ph\":\"t\"") == s.flows_out);
    REQUIRE(count(text, "\"unfinished\":true") == s.unfinished);
    REQUIRE(count(text, "(2)\"") > 0);
  }
}

TEST_CASE("conservation: more than fits the buffer at one moment of time") {
  SmallTrace t;
  const ProcessId p = t.process(0, true);
  const TrackId thread = t.thread(p), stream = t.stream(p);
  for (std::uint64_t i = 1; i <= 20'000; ++i) {
    t.add(thread, Kind::runtime, "cudaLaunchKernel", 5, 10, i);
    t.add(stream, Kind::kernel, "gemm", 5, 0, i);
    t.point(thread, Kind::flow, 's', "ac2g", 5, i);
    t.point(stream, Kind::flow, 'f', "ac2g", 5, i);
  }
  const std::string text = t.json();
  CHECK(t.summary.balanced());
  CHECK(t.summary.flows_out == 20'000);
  CHECK(count(text, "\"ph\":\"s\"") == 20'000);
}
