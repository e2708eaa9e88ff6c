#include "cli/merge/align.h"
#include "cli/merge/clock_domains.h"
#include "cli/merge/ranks.h"
#include "cli/model/error.h"
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
  CHECK_THROWS_WITH(check_ranks(catalog), contains_text("rank 3") && contains_text("a.ring") && contains_text("b.ring"));
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
  CHECK_THAT(contradiction(catalog), contains_text("a is of run job.1") && contains_text("c of run job.2"));
  catalog.processes[2].run_id = "job.1";
  catalog.processes[1].world_size = 8, catalog.processes[2].world_size = 8;
  CHECK(contradiction(catalog).empty());
  catalog.processes[2].world_size = 16;
  CHECK_THAT(contradiction(catalog), contains_text("b is of a run of 8 ranks") && contains_text("c of one of 16 ranks"));
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
  align_methods().front().make()->fit(fits);
  CHECK(align_methods().front().name == "wall_clock");
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
