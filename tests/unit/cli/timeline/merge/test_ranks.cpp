#include "cli/base/error.h"
#include "cli/timeline/merge/align.h"
#include "cli/timeline/merge/ranks.h"
#include "tests/unit/catch.h"

using namespace cli;
namespace {

Process process(std::int64_t rank, const std::string& source) {
  Process p;
  p.rank = rank, p.source = source;
  return p;
}

}  // namespace

TEST_CASE("ranks: one that comes twice is an error that names both files") {
  Catalog catalog;
  catalog.add_process(process(-1, "x"));
  catalog.add_process(process(-1, "y"));
  catalog.add_process(process(3, "a.ring"));
  check_ranks(catalog);
  catalog.add_process(process(3, "b.ring"));
  CHECK_THROWS_WITH(check_ranks(catalog),
                    contains_text("rank 3") && contains_text("a.ring") && contains_text("b.ring"));
}

TEST_CASE("ranks: in order, unknown ones last, and tracks follow their process") {
  Catalog catalog;
  for (const auto& [rank, source] : {std::pair(-1, "u2"), {10, "a"}, {-1, "u1"}, {9, "b"}}) {
    catalog.track(catalog.add_process(process(rank, source)), TrackKind::thread, 0, rank);
  }
  sort_processes(catalog);
  std::string order;
  for (const Process& p : catalog.processes) order += p.source + " ";
  CHECK(order == "b a u1 u2 ");
  CHECK(catalog.processes[catalog.tracks[1].process].source == "a");
  CHECK(catalog.processes[catalog.tracks[0].process].source == "u2");
}

TEST_CASE("ranks: run ids that differ contradict, and so do sizes of worlds") {
  Catalog catalog;
  catalog.add_process(process(0, "a"));
  catalog.add_process(process(1, "b"));
  catalog.add_process(process(2, "c"));
  catalog.processes[0].run_id = "job.1";
  CHECK(contradiction(catalog).empty());
  catalog.processes[2].run_id = "job.2";
  CHECK_THAT(contradiction(catalog), contains_text("a is from run job.1") && contains_text("c from run job.2"));
  catalog.processes[2].run_id = "job.1";
  catalog.processes[1].world_size = 8, catalog.processes[2].world_size = 8;
  CHECK(contradiction(catalog).empty());
  catalog.processes[2].world_size = 16;
  CHECK_THAT(contradiction(catalog),
             contains_text("b is from a run of 8 ranks") && contains_text("c from a run of 16 ranks"));
}

TEST_CASE("ranks: what does not overlap in time is said with the largest gap, but phases of a rank follow each other") {
  Catalog catalog;
  for (const auto& [rank, source, first, last] :
       {std::tuple(0, "a", 100, 200), {1, "b", 150, 260}, {0, "a2", 5'000, 5'100}, {1, "b2", 5'050, 5'200}}) {
    Process p = process(rank, source);
    p.first_ns = first, p.last_ns = last;
    catalog.add_process(p);
  }
  CHECK(apart_in_time(catalog).empty());
  Process late = process(2, "late");
  late.first_ns = 7'200, late.last_ns = 9'000;
  catalog.add_process(late);
  CHECK_THAT(apart_in_time(catalog), contains_text("b ends 2.000 us before late begins"));
  catalog.add_process(process(3, "without times"));
  CHECK_THAT(apart_in_time(catalog), contains_text("b ends 2.000 us before late begins"));
}

TEST_CASE("ranks: --rank is for a file with one process") {
  Catalog catalog;
  catalog.add_process(process(0, "a"));
  catalog.add_process(process(5, "b"));
  set_rank(catalog, 1, "b", {});
  CHECK(catalog.processes[1].rank == 5);
  set_rank(catalog, 1, "b", 7);
  CHECK(catalog.processes[1].rank == 7);
  CHECK(catalog.processes[1].rank_source == RankSource::option);
  CHECK_THROWS_WITH(set_rank(catalog, 0, "ab", 7), contains_text("2 processes"));
}

TEST_CASE("clocks: one per boot, else per host name, else per process") {
  ClockDomains clocks;
  Process a, b;
  a.boot_id = "boot 1", a.host = "x";
  b.host = "x";
  CHECK(clocks.of_process(a) == 0);
  CHECK(clocks.of_process(b) == 1);
  a.host = "renamed";
  CHECK(clocks.of_process(a) == 0);
  CHECK(clocks.of_process({}) == 2);
  CHECK(clocks.of_process({}) == 3);
  CHECK(clocks.of_merged() == clocks.of_merged());
  CHECK(clocks.reported(3));
  CHECK_FALSE(clocks.reported(clocks.of_merged()));
}

TEST_CASE("clocks: the wall clock moves nothing and claims nothing") {
  std::vector<ClockFit> fits(2);
  keep_wall_clocks(fits);
  for (const ClockFit& fit : fits) {
    CHECK(fit.method == "wall_clock");
    CHECK(fit.on_axis(1'760'000'000'000'000'001) == 1'760'000'000'000'000'001);
    CHECK((fit.samples == 0 && !fit.mad_ns && !fit.bound_lo_ns && !fit.bound_hi_ns));
  }
}

TEST_CASE("clocks: offset and drift are exact in nanoseconds") {
  ClockFit fit;
  fit.offset_ns = -50'000'000, fit.drift_ppm = 50, fit.reference_ns = 1'760'000'000'000'000'000;
  CHECK(fit.on_axis(fit.reference_ns) == fit.reference_ns - 50'000'000);
  CHECK(fit.on_axis(fit.reference_ns + 1'000'000'000) == fit.reference_ns + 950'050'000);
}

TEST_CASE("clocks: a clock that was set has another line from then on, and what was between keeps its order") {
  ClockFit fit;
  fit.offset_ns = 100;
  fit.later.push_back({{-900, 0, 0}, 5000, 2100, {}, {}});  // it was set forward by 1000
  CHECK((fit.moves() && !fit.is_rigid()));
  CHECK(fit.on_axis(2000) == 2100);
  CHECK(fit.on_axis(4999) == 5099);
  CHECK(fit.on_axis(5000) == 4100);
  CHECK(fit.on_axis(2900 + 5000) == 7000);
  AxisPlacer placer(&fit);
  Event event;
  event.phase = 'X', event.kind = Kind::kernel;
  event.start_ns = 1990, event.duration_ns = 4010;  // over the moment when it was set
  placer.place(event);
  CHECK((event.start_ns == 2090 && event.duration_ns == 3010));
  event.start_ns = 4999, event.duration_ns = -1;
  placer.place(event);
  CHECK((event.start_ns == 5099 && event.duration_ns == -1));
  event.start_ns = 5001, event.duration_ns = 10;
  placer.place(event);
  CHECK((event.start_ns == 5099 && event.duration_ns == 0));  // never before what came before it
}

TEST_CASE("clocks: what lies within another event still does when a clock drifts") {
  ClockFit fit;
  for (const double drift_ppm : {-50.0, 50.0, 0.0}) {
    fit.drift_ppm = drift_ppm, fit.reference_ns = 1'760'000'000'000'000'000;
    AxisPlacer placer(&fit);
    Event outer, inner;
    outer.phase = inner.phase = 'X', outer.kind = inner.kind = Kind::nvtx;
    outer.start_ns = fit.reference_ns + 1'234'567, outer.duration_ns = 1'000'000;
    inner.start_ns = outer.start_ns + 999'990, inner.duration_ns = 10;
    placer.place(outer), placer.place(inner);
    CHECK(inner.start_ns >= outer.start_ns);
    CHECK(inner.start_ns + inner.duration_ns == outer.start_ns + outer.duration_ns);
  }
}

TEST_CASE("clocks: the first time of a clock at a time of the axis") {
  ClockFit fit;
  fit.offset_ns = -50'000'000, fit.reference_ns = 1'760'000'000'000'000'000;
  for (const double drift_ppm : {-50.0, 0.0, 50.0}) {
    fit.drift_ppm = drift_ppm;
    for (std::int64_t axis_ns = fit.reference_ns + 3'000'000'000; axis_ns < fit.reference_ns + 3'000'100'000;
         axis_ns += 17) {
      const std::int64_t own_ns = fit.first_at(axis_ns);
      CHECK((fit.on_axis(own_ns) >= axis_ns && fit.on_axis(own_ns - 1) < axis_ns));
    }
  }
}
