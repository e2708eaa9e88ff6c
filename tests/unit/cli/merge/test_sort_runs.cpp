#include <algorithm>

#include "../scratch.h"
#include "cli/model/event_key.h"
#include "cli/merge/sort_runs.h"
#include "collect.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

bool before(const Collected& a, const Collected& b) {
  const auto key = [](const Event& e) {
    const auto length =
        e.duration_ns == kUnknownDuration ? ~std::uint64_t{0} : static_cast<std::uint64_t>(e.duration_ns);
    return std::tuple(e.start_ns, ~length, e.kind, e.track);
  };
  return key(a.event) < key(b.event);
}

std::vector<Collected> sorted(std::vector<Collected> events) {
  std::stable_sort(events.begin(), events.end(), before);
  return events;
}

}  // namespace

TEST_CASE("sorting: equals a stable sort, whatever fits in memory") {
  const std::vector<Collected> events = random_events(20'000, 1);
  const std::vector<Collected> expected = sorted(events);
  for (const std::size_t memory : {std::size_t{1}, std::size_t{5'000}, std::size_t{300'000}, kDefaultMemory}) {
    const Scratch scratch;
    Catalog catalog;
    EventSorter sorter(catalog, memory, scratch.folder());
    std::int64_t integer = 0;
    for (const Collected& e : events) sorter.event(e.event, with_shape(e, catalog.shapes, integer));
    for (int walk = 0; walk < 2; ++walk) {
      Collect out;
      sorter.drain({}, out);
      CHECK((out.all == expected));
    }
    CHECK((sorter.spilled_bytes() > 0) == (memory < kDefaultMemory));
    CHECK(scratch.files() == 0);
  }
}

TEST_CASE("sorting: events that began together: without an end first, then the longer") {
  const Catalog catalog;
  EventSorter sorter(catalog, kDefaultMemory, ".");
  for (const std::int64_t duration : {0, 5, -1, 7}) {
    Event event;
    event.start_ns = 10, event.duration_ns = duration;
    sorter.event(event, "");
  }
  Collect out;
  sorter.drain({}, out);
  std::vector<std::int64_t> durations;
  for (const Collected& e : out.all) durations.push_back(e.event.duration_ns);
  CHECK(durations == std::vector<std::int64_t>{-1, 7, 5, 0});
}

TEST_CASE("sorting: nothing in, nothing out") {
  const Catalog catalog;
  EventSorter sorter(catalog, kDefaultMemory, ".");
  Collect out;
  sorter.drain({}, out);
  CHECK(out.all.empty());
}

TEST_CASE("sorting: each clock is put on the axis, also when its runs are merged in rounds") {
  std::vector<ClockFit> fits(3);
  fits[1].offset_ns = -400;
  fits[2].offset_ns = 100, fits[2].drift_ppm = 100'000, fits[2].reference_ns = 0;
  for (const std::size_t memory : {std::size_t{1}, kDefaultMemory}) {
    const Scratch scratch;
    const Catalog catalog;
    EventSorter sorter(catalog, memory, scratch.folder());
    std::vector<Collected> expected;
    for (std::uint32_t clock : {0u, 1u, 2u, 1u}) {
      sorter.begin_clock(clock);
      for (Collected e : random_events(300, clock + 10)) {
        e.event.duration_ns = 0;
        sorter.event(e.event, e.facts);
        e.event.start_ns = fits[clock].on_axis(e.event.start_ns);
        expected.push_back(e);
      }
    }
    std::stable_sort(expected.begin(), expected.end(), before);
    Collect out;
    sorter.drain(fits, out);
    CHECK((out.all == expected));
  }
}

TEST_CASE("sorting: a scratch folder that cannot be written is an error, not a loss") {
  const Catalog catalog;
  EventSorter sorter(catalog, 1, "/no/such/folder");
  Collect out;
  const auto work = [&] {
    for (const Collected& e : random_events(100, 5)) sorter.event(e.event, e.facts);
    sorter.drain({}, out);
  };
  CHECK_THROWS_WITH(work(), contains_text("TMPDIR"));
  CHECK(out.all.empty());
}
