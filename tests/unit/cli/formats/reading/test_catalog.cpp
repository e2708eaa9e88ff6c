#include <string>
#include <vector>

#include "cli/trace/catalog.h"
#include "tests/unit/catch.h"

using namespace cli;

TEST_CASE("strings are interned once, densely, and do not move") {
  Strings strings;
  CHECK(strings.size() == 1);
  CHECK(strings[0].empty());
  CHECK(strings.intern("") == 0);
  const StringId a = strings.intern("a");
  CHECK(a == 1);
  const char* where = strings[a].data();
  for (int i = 0; i < 100000; ++i) REQUIRE(strings.intern("name " + std::to_string(i)) == static_cast<StringId>(i + 2));
  for (int i = 0; i < 100000; ++i) REQUIRE(strings.intern("name " + std::to_string(i)) == static_cast<StringId>(i + 2));
  CHECK(strings[a] == "a");
  CHECK(strings[a].data() == where);
  const std::string huge(200000, 'x');
  CHECK(strings[strings.intern(huge)] == huge);
  CHECK(strings[strings.intern(std::string("a\0b", 3))].size() == 3);
  const Strings moved = std::move(strings);
  CHECK(moved[2] == "name 0");
}

TEST_CASE("a track is made at its first use and told apart by all of its parts") {
  Catalog catalog;
  const ProcessId p = catalog.add_process({}), q = catalog.add_process({});
  CHECK(p == 0);
  CHECK(q == 1);
  const TrackId first = catalog.track(p, TrackKind::stream, 0, 7);
  CHECK(catalog.track(p, TrackKind::stream, 0, 7) == first);
  const std::vector<TrackId> others{
      catalog.track(q, TrackKind::stream, 0, 7),         catalog.track(p, TrackKind::thread, 0, 7),
      catalog.track(p, TrackKind::stream, 1, 7),         catalog.track(p, TrackKind::stream, 0, -7),
      catalog.track(p, TrackKind::other, 0, 7, "Spans"), catalog.track(p, TrackKind::other, 0, 7, "Traces")};
  for (std::size_t i = 0; i < others.size(); ++i) CHECK(others[i] == i + 1);
  CHECK(catalog.tracks.size() == 7);
  CHECK(catalog.tracks[5].group_name == "Spans");
  CHECK(catalog.tracks[4].id == -7);
  CHECK(catalog.track(p, TrackKind::other, 0, 7, "Spans") == 5);
}
