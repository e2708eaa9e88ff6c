#include "cli/answers/derived/lost_slices.h"
#include "cli/answers/derived/overlay.h"
#include "cli/formats/export/shared_json.h"
#include "derived_tracks.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000, kStart = 1'700'000'000 * kSecond;

Process process(std::int64_t rank) {
  Process p;
  p.rank = rank;
  p.first_ns = kStart, p.last_ns = kStart + 10 * kSecond;
  p.counts[0] = 1;
  return p;
}

DerivedText said(const Catalog& catalog, const Derived& slice) {
  return derived_text(slice, catalog.processes[slice.process]);
}

std::int64_t end_ns(const Derived& slice) { return slice.start_ns + slice.duration_ns; }

}  // namespace

TEST_CASE("lost rows: what the ring recycled lies before the first kept event") {
  Catalog catalog;
  Process p = process(0);
  p.overwritten[0] = 12345;
  p.recorder.created_ns = kStart - 3600 * kSecond;
  catalog.add_process(p);
  p.recorder.created_ns = kStart - kSecond / 10;
  catalog.add_process(p);
  p.recorder.created_ns = 0;
  catalog.add_process(p);
  const auto lost = lost_slices(catalog);
  REQUIRE(lost.size() == 3);
  CHECK(lost[0].process == 0);  // an hour, of which a twentieth of the kept ten seconds is drawn
  CHECK(lost[0].start_ns == kStart - kSecond / 2);
  CHECK(end_ns(lost[0]) == kStart);
  CHECK(said(catalog, lost[0]).name == "12,345 kernels overwritten");
  CHECK(said(catalog, lost[0]).args == "\"overwritten\":{\"kernel\":12345},\"span_ns\":3600000000000");
  CHECK(lost[1].process == 2);  // since when is not known
  CHECK(said(catalog, lost[1]).args == "\"overwritten\":{\"kernel\":12345}");
  CHECK(lost[2].process == 1);  // all of it is drawn
  CHECK(lost[2].start_ns == kStart - kSecond / 10);
  CHECK(picture_start(catalog) == kStart - kSecond / 2);
}

TEST_CASE("lost rows: what was never recorded lies anywhere; gaps lie where they were") {
  Catalog catalog;
  Process p = process(0);
  p.lost_unknown_kind = 3;
  p.notices = {{trace::NoticeCode::gap, kStart + kSecond, kStart + 2 * kSecond, 0, "another \"profiler\""},
               {trace::NoticeCode::reduced_to_light, kStart + kSecond, kStart + kSecond, 0, ""},
               {trace::NoticeCode::gap, kStart + kSecond * 3 / 2, kStart + 3 * kSecond, 0, ""},
               {trace::NoticeCode::gap, kStart + 9 * kSecond, 0, 0, ""}};
  catalog.add_process(p);
  const auto lost = lost_slices(catalog);
  REQUIRE(lost.size() == 4);
  CHECK(said(catalog, lost[0]).name == "3 records of unknown kind dropped by CUPTI");
  CHECK(lost[0].start_ns == kStart);
  CHECK(end_ns(lost[0]) == kStart + 10 * kSecond);
  CHECK(said(catalog, lost[1]).name == "gap of 1.000 s");
  CHECK(said(catalog, lost[1]).args == "\"span_ns\":1000000000,\"text\":\"another \\\"profiler\\\"\"");
  CHECK(lost[2].start_ns == end_ns(lost[1]));  // they nest, or lie side by side
  CHECK(said(catalog, lost[2]).args == "\"span_ns\":1500000000");
  CHECK(end_ns(lost[3]) == kStart + 10 * kSecond);
  CHECK(said(catalog, lost[3]).args == "\"ended\":false");
}

TEST_CASE("lost rows: a process of which nothing was kept") {
  Catalog catalog;
  catalog.add_process(process(0));
  Process p;
  p.lost[0] = 7;
  p.recorder.created_ns = kStart - kSecond, p.recorder.heartbeat_ns = kStart + 4 * kSecond;
  catalog.add_process(p);
  p.recorder = {};
  catalog.add_process(p);
  catalog.add_process(Process());  // had nothing
  const auto lost = lost_slices(catalog);
  REQUIRE(lost.size() == 2);
  CHECK(lost[0].process == 2);
  CHECK(end_ns(lost[0]) == kStart + 10 * kSecond);
  CHECK(lost[1].process == 1);
  CHECK(lost[1].start_ns == kStart);
  CHECK(end_ns(lost[1]) == kStart + 4 * kSecond);
  Catalog alone;
  alone.add_process(p);
  CHECK(lost_slices(alone).size() == 1);
  CHECK(lost_slices(Catalog()).empty());
  CHECK(picture_start(Catalog()) == 0);
}

TEST_CASE("lost rows: come first, once, also when there is no event") {
  Catalog catalog;
  Process p = process(0);
  p.lost[0] = 1;
  catalog.add_process(p);
  DerivedTracks tracks;
  Overlay overlay(catalog, tracks);
  overlay.finish();
  CHECK(tracks.of(DerivedTrack::lost, -1).size() == 1);
}
