// The call that launched a piece of work, and that old ones are forgotten.
#include "cli/trace/launch_calls.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

Event call(std::uint64_t correlation, std::int64_t start_ns, std::int64_t duration_ns, TrackId track = 0) {
  Event event;
  event.kind = Kind::runtime;
  event.correlation = correlation;
  event.start_ns = start_ns;
  event.duration_ns = duration_ns;
  event.track = track;
  return event;
}

// So many processes, each with a thread of this number.
Catalog processes(std::size_t count) {
  Catalog catalog;
  for (std::size_t i = 0; i < count; ++i) catalog.track(catalog.add_process({}), TrackKind::thread, 0, 0);
  return catalog;
}

}  // namespace

TEST_CASE("launch calls: the outermost of one correlation, of its own process") {
  const Catalog catalog = processes(2);
  LaunchCalls calls(catalog);
  calls.add(call(7, 100, 50));
  calls.add(call(7, 110, 20));  // the driver's, within
  calls.add(call(7, 300, 5, 1));
  REQUIRE(calls.of(0, 7) != nullptr);
  CHECK(calls.of(0, 7)->start_ns == 100);
  CHECK(calls.of(0, 7)->end_ns == 150);
  CHECK(calls.of(1, 7)->track == 1);
  CHECK(calls.of(0, 8) == nullptr);
  CHECK(calls.of(0, 0) == nullptr);
}

TEST_CASE("launch calls: of several processes in one file each has its own") {
  Catalog catalog = processes(1);
  const TrackId other_thread = catalog.track(0, TrackKind::thread, 0, 1),
                stream = catalog.track(0, TrackKind::stream, 0, 7),
                other_stream = catalog.track(0, TrackKind::stream, 1, 7);
  catalog.tracks[0].launcher = catalog.tracks[stream].launcher = 1;
  catalog.tracks[other_thread].launcher = catalog.tracks[other_stream].launcher = 2;
  LaunchCalls calls(catalog);
  calls.add(call(7, 100, 50));
  calls.add(call(7, 120, 50, other_thread));
  CHECK(calls.of(stream, 7)->start_ns == 100);
  CHECK(calls.of(other_stream, 7)->start_ns == 120);
}

TEST_CASE("launch calls: a correlation that comes again is the new call's") {
  const Catalog catalog = processes(1);
  LaunchCalls calls(catalog);
  calls.add(call(7, 100, 50));
  calls.add(call(7, 200, 50));
  CHECK(calls.of(0, 7)->start_ns == 200);
}

TEST_CASE("launch calls: the newest are kept") {
  const Catalog catalog = processes(1);
  LaunchCalls calls(catalog);
  const std::uint64_t many = LaunchCalls::kMostCalls;
  for (std::uint64_t i = 1; i <= 2 * many + 5; ++i) calls.add(call(i, static_cast<std::int64_t>(10 * i), 5));
  CHECK(calls.of(0, many + 5) == nullptr);
  REQUIRE(calls.of(0, many + 6) != nullptr);
  CHECK(calls.of(0, many + 6)->start_ns == static_cast<std::int64_t>(10 * (many + 6)));
  CHECK(calls.of(0, 2 * many + 5)->start_ns == static_cast<std::int64_t>(10 * (2 * many + 5)));
}

TEST_CASE("launch calls: any two correlations are apart, while the oldest are forgotten") {
  const Catalog catalog = processes(1);
  LaunchCalls calls(catalog);
  const std::uint64_t many = LaunchCalls::kMostCalls;
  const auto spread = [](std::uint64_t i) { return i % 2 == 0 ? i << 40 : i << 20; };
  for (std::uint64_t i = 1; i <= many + 1000; ++i) calls.add(call(spread(i), static_cast<std::int64_t>(10 * i), 5));
  for (std::uint64_t i = 1; i <= many + 1000; i += 37) {
    const LaunchCall* const found = calls.of(0, spread(i));
    CHECK((found != nullptr) == (i > 1000));
    if (found != nullptr) CHECK(found->start_ns == static_cast<std::int64_t>(10 * i));
  }
}

TEST_CASE("launch calls: of many processes fewer each") {
  const Catalog catalog = processes(10000);
  LaunchCalls calls(catalog);
  for (std::uint64_t i = 1; i <= LaunchCalls::kFewestCalls + 1; ++i)
    calls.add(call(i, static_cast<std::int64_t>(10 * i), 5, 9999));
  CHECK(calls.of(9999, 1) == nullptr);
  CHECK(calls.of(9999, 2) != nullptr);
}

TEST_CASE("launch calls: as many as the trace tells, and more or fewer") {
  for (const std::uint64_t told : {0, 1, 40, 99, 100, 101, 5000}) {
    Catalog catalog = processes(1);
    catalog.processes[0].counts[static_cast<std::size_t>(Kind::runtime)] = told / 2;
    catalog.processes[0].counts[static_cast<std::size_t>(Kind::driver)] = told - told / 2;
    LaunchCalls calls(catalog);
    for (std::uint64_t i = 1; i <= 100; ++i)
      CHECK(calls.add(call(3 * i, static_cast<std::int64_t>(10 * i), 5)) == i - 1);
    for (std::uint64_t i = 1; i <= 301; ++i) {
      const LaunchCall* const found = calls.of(0, i);
      REQUIRE((found != nullptr) == (i % 3 == 0 && i <= 300));
      if (found != nullptr) CHECK(found->start_ns == static_cast<std::int64_t>(10 * (i / 3)));
    }
  }
}
