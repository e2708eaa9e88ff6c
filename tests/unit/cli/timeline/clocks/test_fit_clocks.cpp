// Clocks of hosts are found from collectives: against jobs whose clocks are known.
#include <cmath>

#include "cli/timeline/clocks/fit_clocks.h"
#include "tests/case_step.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/timeline/collectives/made_collectives.h"

using namespace cli;

namespace {

struct ClockScore {
  std::vector<double> errors_ns;  // of every host but the first, over the run
  std::size_t pieces = 0;         // found after a clock broke
  std::size_t bounds = 0, held = 0;
  std::vector<ClockFit> fits;
  double p99() {
    std::sort(errors_ns.begin(), errors_ns.end());
    return errors_ns.at(errors_ns.size() * 99 / 100);
  }
};

void score(const MadeJob& job, ClockScore& score) {
  const MadeCollectives made(job);
  std::vector<std::uint32_t> domain_of;
  for (std::size_t rank = 0; rank < job.hosts * job.ranks_per_host; ++rank)
    domain_of.push_back(static_cast<std::uint32_t>(rank / job.ranks_per_host));
  std::vector<ClockFit> fits(job.hosts);
  fit_clocks(made.calls, match_collectives(made.calls, made.catalog), domain_of, std::nullopt, fits);
  for (const ClockFit& fit : fits) score.pieces += fit.later.size();
  for (std::size_t host = 1; host < job.hosts; ++host) {
    const std::size_t rank = host * job.ranks_per_host;
    for (int i = 0; i <= 10; ++i) {
      const double at_ns = made.length_ns() * i / 10;
      // Where a clock was set back it says times twice.
      if (job.set_ns < 0 && std::abs(at_ns - job.set_at * made.planned_ns()) <= 1.2 * -job.set_ns) continue;
      score.errors_ns.push_back(std::abs(
          static_cast<double>(fits[host].on_axis(made.clock(rank, at_ns)) - fits[0].on_axis(made.clock(0, at_ns)))));
    }
    if (!fits[host].bound_lo_ns || !fits[host].bound_hi_ns) continue;
    // When its clock says reference_ns.
    const double true_ns = static_cast<double>(fits[host].reference_ns - made.clock(rank, 0)) / (1 + made.drift[host]);
    const auto offset_ns = static_cast<double>(fits[0].on_axis(made.clock(0, true_ns)) - fits[host].reference_ns);
    ++score.bounds;
    score.held += offset_ns >= static_cast<double>(*fits[host].bound_lo_ns) &&
                  offset_ns <= static_cast<double>(*fits[host].bound_hi_ns);
  }
  score.fits = std::move(fits);
}

ClockScore score_many(MadeJob job, std::uint64_t seeds = 20) {
  ClockScore all;
  for (job.seed = 1; job.seed <= seeds; ++job.seed) score(job, all);
  return all;
}

MadeJob long_job() {
  MadeJob job;
  job.hosts = 4, job.steps = 120, job.most_compute_ns = 9e6;  // some seconds
  return job;
}

}  // namespace

TEST_CASE("clocks: offsets to 5 s and drifts to 50 ppm are found to 5 us, whatever is lost", "[slow]") {
  for (const double lost : {0.0, 0.3}) {
    if (case_step() > 1 && lost == 0) continue;
    MadeJob job = long_job();
    job.lost = lost;
    ClockScore found = score_many(job);
    INFO("lost " << lost);
    CHECK(found.p99() <= 5000);
    CHECK(found.held == found.bounds);
    CHECK(found.bounds == 20 * 3);
  }
}

TEST_CASE("clocks: a rank that is late in every collective moves nothing", "[slow]") {
  MadeJob job = long_job();
  job.late_rank = 5, job.late_ns = 1e6;
  ClockScore found = score_many(job);
  CHECK(found.p99() <= 5000);
  CHECK(found.held == found.bounds);
}

TEST_CASE("clocks: one that is set on the way is found, whichever host has it, and none is where there is none",
          "[slow]") {
  MadeJob job = long_job();
  CHECK(score_many(job, few(10)).pieces == 0);
  for (const double set_ns : {2e9, 100e3, -300e6}) {
    for (const std::size_t host : {std::size_t{0}, std::size_t{2}}) {
      if (host == 0 && set_ns < 0) continue;  // what it says twice is nobody's truth
      job.set_host = host, job.set_ns = set_ns;
      ClockScore found = score_many(job, few(3));
      INFO("by " << set_ns << " ns on host " << host);
      CHECK(found.pieces == few(3));
      CHECK(found.held == found.bounds);
      CHECK(found.p99() <= 5000);
    }
  }
}

TEST_CASE("clocks: one of two hosts that is set", "[slow]") {
  MadeJob job = long_job();
  job.hosts = 2;
  for (const double set_ns : {2e9, -300e6}) {
    job.set_host = 1, job.set_ns = set_ns;
    ClockScore found = score_many(job, 4);
    INFO("by " << set_ns << " ns");
    CHECK(found.pieces == 4);
    CHECK(found.p99() <= 5000);
  }
}

TEST_CASE("clocks: one whose drift changes has a line before and a line after", "[slow]") {
  MadeJob job = long_job();
  job.set_host = 1, job.bend_ppm = 80;
  ClockScore found = score_many(job, 10);
  CHECK(found.pieces >= 10);
  CHECK(found.pieces <= 15);
  CHECK(found.p99() <= 5000);
}

TEST_CASE("clocks: ends of a host that are always late cannot be told from an offset, and the bound holds", "[slow]") {
  MadeJob job = long_job();
  job.most_bias_ns = 50'000;
  ClockScore found = score_many(job);
  CHECK(found.p99() <= 60'000);
  CHECK(found.held >= found.bounds * 99 / 100);
}

TEST_CASE("clocks: what cannot be told from nothing is not applied", "[slow]") {
  MadeJob job;  // a short one, in which 50 ppm are some microseconds
  job.most_offset_ns = 0, job.most_drift = 0;
  for (const std::size_t hosts : {std::size_t{2}, std::size_t{8}}) {
    job.hosts = hosts;
    std::size_t moved = 0, drifted = 0, all = 0;
    for (job.seed = 1; job.seed <= 40; ++job.seed) {
      ClockScore found;
      score(job, found);
      CHECK(found.fits[0].method == "reference");
      for (std::size_t host = 1; host < hosts; ++host) {
        const ClockFit& fit = found.fits[host];
        moved += fit.offset_ns != 0, drifted += fit.drift_ppm != 0, ++all;
        CHECK(fit.method == "collectives");
        CHECK(std::abs(fit.offset_ns) < 10'000);
      }
    }
    INFO(hosts << " hosts");
    CHECK(moved <= all / 4);
    CHECK(drifted <= all / 20);
  }
}

TEST_CASE("clocks: the root of a broadcast is a rank of its communicator, in whatever order the ranks were read",
          "[slow]") {
  CollectiveCalls calls;
  Catalog catalog;
  catalog.processes.resize(2);
  calls.processes.resize(2);
  calls.communicators.push_back({.label = "0x0", .description = "", .epoch = 1, .size = 2, .scope = "", .members = ""});
  CollectiveWhat reduce, broadcast;
  reduce.operation = Operation::all_reduce, broadcast.operation = Operation::broadcast, broadcast.root = 0;
  const WhatId reduces = calls.whats.intern(reduce), broadcasts = calls.whats.intern(broadcast);
  for (std::size_t id = 0; id < 2; ++id) {
    const bool is_root = id == 1;  // rank 0
    CollectiveLane lane;
    lane.numbering = Numbering::numbered;
    lane.own_rank = is_root ? 0 : 1;
    for (std::int64_t i = 0; i < 80;
         ++i) {  // both end together; the root is done with a broadcast 5 ms before the other begins
      CollectiveCall call;
      call.position = i, call.what = i % 2 == 0 ? reduces : broadcasts;
      const std::int64_t late_ns = i % 2 == 1 && !is_root ? 5'000'000 : 0;
      call.gpu_start_ns = 1'000'000'000 + i * 20'000'000 + late_ns,
      call.gpu_end_ns = call.gpu_start_ns + 50'000 + (i * 7919) % 997;
      lane.calls.push_back(call);
    }
    calls.processes[id].lanes.push_back(lane);
    catalog.processes[id].host = "node" + std::to_string(id);
  }
  const std::vector<std::uint32_t> domain_of{0, 1};
  std::vector<ClockFit> fits(2);
  fit_clocks(calls, match_collectives(calls, catalog), domain_of, std::nullopt, fits);
  CHECK(fits[1].method == "collectives");
  REQUIRE((fits[1].bound_lo_ns && fits[1].bound_hi_ns));
  CHECK((*fits[1].bound_lo_ns <= 0 && *fits[1].bound_lo_ns > -100'000));
  CHECK((*fits[1].bound_hi_ns >= 0 && *fits[1].bound_hi_ns < 100'000));
}

TEST_CASE("clocks: hosts that share nothing stay on their wall clocks, and it is said", "[slow]") {
  MadeJob job;
  MadeCollectives made(job);
  for (ProcessCalls& process : made.calls.processes) {
    for (CollectiveLane& lane : process.lanes) lane.calls.clear();
  }
  std::vector<std::uint32_t> domain_of(8);
  std::vector<ClockFit> fits(2);
  fit_clocks(made.calls, match_collectives(made.calls, made.catalog), domain_of, std::nullopt, fits);
  for (const ClockFit& fit : fits) {
    CHECK(fit.method == "wall_clock");
    CHECK((fit.samples == 0 && !fit.moves() && !fit.bound_lo_ns));
  }
}

TEST_CASE("clocks: of many jobs", "[slow]") {
  struct Row {
    const char* name;
    std::size_t hosts, ranks;
    double lost, bias;
    std::uint64_t seeds;
  };
  for (const Row& row : {Row{"8 x 4", 8, 4, 0, 0, 200}, Row{"8 x 4, 30 % lost", 8, 4, 0.3, 0, 200},
                         Row{"8 x 4, biased", 8, 4, 0, 50e3, 200}, Row{"128 x 8", 128, 8, 0.1, 0, 5}}) {
    MadeJob job = long_job();
    if (row.hosts > 8) job.collectives_per_step = 72, job.shared_per_step = 3;  // 360 of each host are shared
    job.hosts = row.hosts, job.ranks_per_host = row.ranks, job.lost = row.lost, job.most_bias_ns = row.bias;
    ClockScore found;
    for (job.seed = 1; job.seed <= row.seeds;
         job.seed += row.hosts > 8 ? std::min<std::size_t>(case_step(), 4) : case_step())
      score(job, found);
    INFO(row.name << ": bounds held " << found.held << " of " << found.bounds);
    if (row.bias == 0) CHECK(found.p99() <= 5000);
    CHECK(found.held >= found.bounds * 99 / 100);
  }
}
