#include <algorithm>
#include <utility>

#include "cli/formats/ttrace/walk.h"
#include "cli/timeline/merge/catalogs.h"
#include "cli/timeline/sort/sort_runs.h"
#include "tests/case_step.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/scratch.h"
#include "tests/unit/cli/timeline/merge/collect.h"

using namespace cli;
using namespace cli::ttrace;

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

// What a trace of one input does with its events.
struct Sorted {
  Sorted(const Catalog& catalog, std::size_t memory, std::string folder, bool beside = false)
      : room(memory, 1, std::move(folder)), walk(room, catalog.shapes), sorter(room, beside) {}
  void drain(const std::vector<ClockFit>& fits, EventSink& out) {
    if (!std::exchange(is_finished, true)) walk.add(sorter.finish(), 0, nullptr);
    walk.walk(fits, out);
  }

  bool is_finished = false;
  SortRoom room;
  RunWalk walk;
  EventSorter sorter;
};

}  // namespace

TEST_CASE("sorting: equals a stable sort, whatever fits in memory, on a thread of its own or not") {
  const std::vector<Collected> events = random_events(20'000 / std::min<std::size_t>(case_step(), 4), 1);
  const std::vector<Collected> expected = sorted(events);
  for (const std::size_t memory : {std::size_t{1}, std::size_t{5'000}, std::size_t{300'000}, kDefaultMemory}) {
    for (const bool beside : {false, true}) {
      const Scratch scratch;
      Catalog catalog;
      Sorted all(catalog, memory, scratch.folder(), beside);
      std::int64_t integer = 0;
      for (const Collected& e : events) all.sorter.event(e.event, with_shape(e, catalog.shapes, integer));
      for (int walk = 0; walk < 2; ++walk) {
        Collect out;
        all.drain({}, out);
        CHECK((out.all == expected));
      }
      CHECK((all.room.scratch().bytes() > 0) == (memory < kDefaultMemory));
      CHECK(scratch.files() == 0);
    }
  }
}

TEST_CASE("sorting: events that began together: without an end first, then the longer") {
  const Catalog catalog;
  Sorted all(catalog, kDefaultMemory, ".");
  for (const std::int64_t duration : {0, 5, -1, 7}) {
    Event event;
    event.start_ns = 10, event.duration_ns = duration;
    all.sorter.event(event, "");
  }
  Collect out;
  all.drain({}, out);
  std::vector<std::int64_t> durations;
  for (const Collected& e : out.all) durations.push_back(e.event.duration_ns);
  CHECK(durations == std::vector<std::int64_t>{-1, 7, 5, 0});
}

TEST_CASE("sorting: nothing in, nothing out") {
  const Catalog catalog;
  Sorted all(catalog, kDefaultMemory, ".");
  Collect out;
  all.drain({}, out);
  CHECK(out.all.empty());
}

TEST_CASE("sorting: each clock is put on the axis, also when its runs are merged in rounds") {
  std::vector<ClockFit> fits(3);
  fits[1].offset_ns = -400;
  fits[2].offset_ns = 100, fits[2].drift_ppm = 100'000, fits[2].reference_ns = 0;
  for (const std::size_t memory : {std::size_t{1}, std::size_t{60'000}, kDefaultMemory}) {
    const Scratch scratch;
    const Catalog catalog;
    SortRoom room(memory, 4, scratch.folder());
    RunWalk walk(room, catalog.shapes);
    std::vector<Collected> expected;
    for (std::uint32_t clock : {0u, 1u, 2u, 1u}) {
      EventSorter sorter(room, false);
      for (Collected e : random_events(300, clock + 10)) {
        e.event.duration_ns = 0;
        sorter.event(e.event, e.facts);
        e.event.start_ns = fits[clock].on_axis(e.event.start_ns);
        expected.push_back(e);
      }
      walk.add(sorter.finish(), clock, nullptr);
    }
    std::stable_sort(expected.begin(), expected.end(), before);
    Collect out;
    walk.walk(fits, out);
    CHECK((out.all == expected));
  }
}

TEST_CASE("sorting: ids become those of the whole trace, in memory and in the scratch file") {
  for (const std::size_t memory : {std::size_t{1}, std::size_t{60'000}, kDefaultMemory}) {
    const Scratch scratch;
    Catalog all;
    all.strings.intern("of another input");
    all.shapes.intern("\"b\":\1");
    SortRoom room(memory, 1, scratch.folder());
    RunWalk walk(room, all.shapes);
    Catalog own;
    for (const char* name : {"one", "two", "three", "four"}) own.strings.intern(name);
    const ProcessId process = own.add_process({});
    for (std::int64_t tid : {1, 2, 3}) own.track(process, TrackKind::thread, 1, tid);
    own.launches.intern([] {
      Launch l;
      return l.grid[0] = 7, l;
    }());
    own.launches.intern([] {
      Launch l;
      return l.grid[0] = 8, l;
    }());
    own.captures.intern([] {
      Capture c;
      return c.known = true, c;
    }());
    own.collective_ops.intern([] {
      CollectiveOp o;
      return o.in_elements = 4, o;
    }());
    own.dims.intern({0, 5, 1});
    own.operator_inputs.intern([] {
      OperatorInput i;
      return i.type = 3, i.dims = 1, i;
    }());
    own.stacks.intern([] {
      StackFrame f;
      return f.name = 2, f.line = 9, f;
    }());
    const std::vector<Collected> events = sorted(random_events(2'000, 3));
    EventSorter sorter(room, false);
    std::int64_t integer = 0;
    for (const Collected& e : events) sorter.event(e.event, with_shape(e, own.shapes, integer));
    std::vector<EventRun> runs = sorter.finish();
    all.track(all.add_process({}), TrackKind::thread, 1, 1);
    const IdMap ids = join_catalog(own, all);
    translate_runs(runs, ids);
    walk.add(std::move(runs), 0, &ids);
    Collect out;
    walk.walk({}, out);
    REQUIRE(out.all.size() == events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      Collected expected = events[i];
      KeptFacts& facts = expected.facts;
      EventBatch batch;
      batch.add(expected.event, facts);
      REQUIRE(ids.translate(batch, 0));
      CHECK(batch.event(0).name == (events[i].event.name == 0 ? 0 : events[i].event.name + 1));
      CHECK(batch.event(0).track == events[i].event.track + 1);
      REQUIRE((out.all[i] == Collected{batch.event(0), batch.facts(0)}));
    }
  }
}

TEST_CASE("sorting: a scratch folder that cannot be written is an error, not a loss") {
  const Catalog catalog;
  for (const bool beside : {false, true}) {
    Sorted all(catalog, 1, "/no/such/folder", beside);
    Collect out;
    const auto work = [&] {
      for (const Collected& e : random_events(100, 5)) all.sorter.event(e.event, e.facts);
      all.drain({}, out);
    };
    CHECK_THROWS_WITH(work(), contains_text("TMPDIR"));
    CHECK(out.all.empty());
  }
}
