// Stragglers and their causes, against jobs in which they are planted.
#include "cli/timeline/collectives/statistics.h"
#include "cli/timeline/collectives/stragglers.h"
#include "made_lateness.h"
#include "made_training.h"
#include "tests/case_step.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

constexpr LateCause kPlanted[] = {LateCause::host, LateCause::slow_kernels, LateCause::more_work, LateCause::copy};

std::map<std::size_t, LateCause> named(const Lateness& lateness) {
  std::map<std::size_t, LateCause> found;
  for (std::size_t id = 0; id < lateness.ranks.size(); ++id) {
    if (lateness.ranks[id].straggler) found[id] = lateness.ranks[id].reason.cause;
  }
  return found;
}

// Of a seed: which ranks, why, how often, what is lost.
MadeTraining some_job(std::uint64_t seed) {
  std::mt19937_64 random(seed * 77);
  MadeTraining job;
  job.seed = seed;
  job.lost = seed % 3 == 0 ? 0 : std::uniform_real_distribution<>(0, 0.3)(random);
  job.once_a_step = seed % 5 == 0;
  const std::size_t ranks = job.hosts * job.ranks_per_host, count = seed % 4 == 0 ? 2 : 1;
  while (job.stragglers.size() < count) job.stragglers[random() % ranks] = kPlanted[random() % std::size(kPlanted)];
  return job;
}

struct Score {
  std::size_t runs = 0, right = 0, stragglers = 0, causes = 0;
};

// Two ranks of a clock each, that meet so many times; the second one starts `late_ns` after the first, and both end together.
Lateness of_two(std::int64_t meetings, std::int64_t late_ns, std::vector<std::optional<std::int64_t>> errors_ns) {
  CollectiveCalls calls;
  MatchedCollectives matched;
  CollectiveWhat what;
  what.operation = Operation::all_reduce;
  const WhatId id = calls.whats.intern(what);
  calls.communicators.emplace_back();
  calls.processes.resize(2);
  matched.groups.push_back({0, {0, 1}, 2, true});
  std::vector<std::uint32_t> chosen;
  for (auto& process : calls.processes) process.lanes.emplace_back();
  for (std::int64_t i = 0; i < meetings; ++i) {
    MatchedCollective collective;
    collective.what = id, collective.first_call = static_cast<std::uint32_t>(matched.calls.size()),
    collective.calls = 2;
    for (ProcessId process = 0; process < 2; ++process) {
      CollectiveCall call;
      call.what = id, call.gpu_start_ns = i * 1'000'000 + (process == 1 ? late_ns : 0),
      call.gpu_end_ns = i * 1'000'000 + 900'000;
      call.exposed_ns = call.gpu_end_ns - call.gpu_start_ns;
      matched.calls.push_back({process, 0, static_cast<std::uint32_t>(i)});
      calls.processes[process].lanes[0].calls.push_back(call);
    }
    matched.collectives.push_back(collective), chosen.push_back(static_cast<std::uint32_t>(i));
  }
  return find_stragglers(calls, matched, chosen, {{0, 1}, std::move(errors_ns)});
}

}  // namespace

TEST_CASE("stragglers: what a clock may be wrong by is not late") {
  const std::optional<std::int64_t> none;
  const Lateness by_ends = of_two(40, 100'000, {none, none});
  CHECK(by_ends.by_ends);
  CHECK(by_ends.ranks[1].late_ns == 40 * 100'000);
  CHECK(by_ends.ranks[1].straggler);
  CHECK(by_ends.ranks[1].reason.cause == LateCause::unknown);  // nothing is known of what else the GPU did
  CHECK(by_ends.ranks[1].others_waited_ns == 40 * 100'000);
  CHECK(by_ends.ranks[1].delayed_ns == 40 * 100'000);
  CHECK(by_ends.ranks[0].waited_ns == 40 * 100'000);
  CHECK(by_ends.set_cost_ns == 40 * 100'000);
  const Lateness aligned = of_two(40, 100'000, {10'000, 30'000});
  CHECK_FALSE(aligned.by_ends);
  CHECK(aligned.ranks[1].late_ns == 40 * 60'000);
  CHECK(of_two(40, 100'000, {0, 100'000}).ranks[1].late_ns == 0);
  CHECK_FALSE(of_two(40, 100'000, {0, 100'000}).ranks[1].straggler);
  CHECK(of_two(40, 100'000, {0, none}).by_ends);
}

TEST_CASE("stragglers: how far times may be off is told by the estimate of their clocks, where there is one") {
  Catalog catalog;
  catalog.processes.resize(5);
  for (Process& process : catalog.processes)
    process.host = "node1", process.clock = &process - catalog.processes.data();
  catalog.processes[3].clock = catalog.processes[4].clock = -1;
  std::vector<ClockFit> fits(3);
  fits[0].method = "reference";
  fits[1].method = "collectives", fits[1].samples = 400, fits[1].mad_ns = 10'000, fits[1].offset_ns = 7'000'000;
  fits[2].method = "wall_clock";
  const ClockKnowledge clocks = clocks_of(catalog, fits);
  CHECK(clocks.error_between(0, 0) == 0);
  CHECK(clocks.error_between(3, 4) == 0);  // of one host, and not estimated
  const std::int64_t error_ns = clocks.error_between(0, 1).value_or(-1);
  CHECK((error_ns > 6'000 && error_ns < 7'000));  // six of 20,780 ns / 20
  CHECK_FALSE(clocks.error_between(0, 2));
  CHECK_FALSE(clocks.error_between(1, 3));
  fits[1].bound_lo_ns = 6'999'000, fits[1].bound_hi_ns = 7'002'000;
  CHECK(clocks_of(catalog, fits).error_between(0, 1) == 2'000);
  fits[1].samples = 4;
  fits[1].bound_lo_ns.reset();
  CHECK(clocks_of(catalog, fits).error_between(1, 0) > 100'000);
}

TEST_CASE("stragglers: below 2 % of the span, or by chance, nobody is one") {
  const std::optional<std::int64_t> none;
  CHECK_FALSE(of_two(40, 19'000, {none, none}).ranks[1].straggler);
  CHECK(of_two(40, 21'000, {none, none}).ranks[1].straggler);
  CHECK_FALSE(of_two(4, 100'000, {none, none}).ranks[1].straggler);
}

TEST_CASE("stragglers: a bound on the chance that the same rank is last") {
  // Of four ranks one is last by 10 in each of five meetings: by chance once in 4^5.
  const double log_chance = -5 * std::log(4.0);
  ExchangeTest always(1'000);
  for (int i = 0; i < 5; ++i) always.add({10, 0, 0, 0}, 1, 10, true);
  CHECK(always.is_beyond(log_chance + 0.01));
  CHECK_FALSE(always.is_beyond(log_chance - 0.01));
  // One delay is one draw, however long it is, and in however many meetings of a block it is seen.
  ExchangeTest once(1'000'000);
  once.add({1'000'000, 0, 0, 0}, 1, 1'000'000, true);
  for (int i = 0; i < 50; ++i) once.add({10, 0, 0, 0}, 1, i % 4 == 0 ? 10 : 0, true);
  CHECK_FALSE(once.is_beyond(std::log(0.25) - 0.01));
  ExchangeTest block(1'000);
  for (int i = 0; i < 5; ++i) block.add({10, 0, 0, 0}, 1, 10, false);
  block.end_block();
  CHECK(block.is_beyond(std::log(0.25) + 0.01));
  CHECK_FALSE(block.is_beyond(std::log(0.25) - 0.01));
  // All of three that are late in turn, of four.
  ExchangeTest turns(1'000);
  for (int i = 0; i < 40; ++i) turns.add({10, 0, 0, 0}, 3, 10, true);
  CHECK(turns.is_beyond(40 * std::log(0.75) + 0.01));
  CHECK_FALSE(turns.is_beyond(40 * std::log(0.75) - 0.01));
}

TEST_CASE("stragglers: one long delay is none, nor is what befalls all ranks by turns") {
  MadeLateJob job;
  job.stragglers = {3};
  job.steps = 200, job.late = 40, job.from = 0.5, job.until = 0.504;  // in one step, a tenth of the run
  const MadeLateness once(job);
  CHECK(once.waited_ns[3] * 10 > once.span_ns);
  CHECK(named(once.lateness()).empty());
  job = {};
  job.stragglers = {0, 1, 2, 3, 4, 5, 6, 7}, job.in_turn = true, job.steps = 160;
  CHECK(named(MadeLateness(job).lateness()).empty());
}

TEST_CASE("stragglers: two that are late in turn, three that are late together, one that is late in half of the run") {
  const auto ranks = [](const MadeLateJob& job) {
    std::vector<std::size_t> found;
    for (const auto& [rank, cause] : named(MadeLateness(job).lateness())) found.push_back(rank);
    return found;
  };
  MadeLateJob job;
  job.stragglers = {0, 6}, job.in_turn = true;
  CHECK(ranks(job) == job.stragglers);
  job.hidden = true;  // collectives that overlap with compute
  CHECK(ranks(job) == job.stragglers);
  job = {};
  job.stragglers = {1, 2, 3}, job.ranks = 4;
  CHECK(ranks(job) == job.stragglers);
  job = {};
  job.stragglers = {5}, job.from = 0.5;
  CHECK(ranks(job) == job.stragglers);
}

TEST_CASE("stragglers: ranks that are always a bit slower are none") {
  MadeLateJob job;
  job.speed = 0.018, job.steps = 200;
  for (const MadeNoise noise : {MadeNoise::small, MadeNoise::exponential, MadeNoise::heavy_tails}) {
    job.noise = noise;
    for (job.seed = 1; job.seed <= 5; ++job.seed) CHECK(named(MadeLateness(job).lateness()).empty());
  }
}

// The long form is in tests/bench.
TEST_CASE("stragglers: of seeded jobs, 97 % right and no healthy one with a straggler", "[slow]") {
  const LateScore score = late_score(1, 150, case_step());
  INFO(score.right << " of " << score.late << " right, " << score.silent << " of " << score.healthy
                   << " silent; wrong seeds: " << score.wrong_seeds);
  CHECK(score.late * 2 > 150 / case_step());
  CHECK(score.right * 100 >= score.late * 97);
  CHECK(score.silent * 100 >= score.healthy * 99);
}

TEST_CASE("stragglers: two that are late together are both found, and who waits because of them is none") {
  MadeTraining job;
  job.hosts = 4, job.stragglers = {{1, LateCause::host}, {14, LateCause::slow_kernels}};
  const Lateness lateness = MadeEvents(job).lateness();
  CHECK(named(lateness) == job.stragglers);
  bool waits_elsewhere = false;
  for (const RankLateness& rank : lateness.ranks)
    waits_elsewhere = waits_elsewhere || rank.reason.cause == LateCause::other_collective;
  CHECK(waits_elsewhere);
  CHECK((lateness.set_cost_ns > 0 && lateness.set_cost_ns <= lateness.waited_ns));
}

TEST_CASE("stragglers: of 200 jobs those that are planted, and why they are late", "[slow]") {
  Score score;
  for (std::uint64_t seed = 1; seed <= 200; seed += case_step()) {
    const MadeTraining job = some_job(seed);
    const auto found = named(MadeEvents(job).lateness());
    bool right = found.size() == job.stragglers.size();
    for (const auto& [rank, cause] : job.stragglers) {
      const auto one = found.find(rank);
      right = right && one != found.end();
      if (one == found.end()) continue;
      ++score.stragglers, score.causes += one->second == cause;
      if (one->second != cause)
        UNSCOPED_INFO("seed " << seed << " rank " << rank << ": " << cause_name(one->second) << " and not "
                              << cause_name(cause));
    }
    if (!right) {
      UNSCOPED_INFO("seed " << seed << ", lost " << job.lost << ", once " << job.once_a_step);
      for (const auto& [rank, cause] : job.stragglers) UNSCOPED_INFO("  planted " << rank << " " << cause_name(cause));
      for (const auto& [rank, cause] : found) UNSCOPED_INFO("  named " << rank << " " << cause_name(cause));
    }
    ++score.runs, score.right += right;
  }
  INFO(score.right << " of " << score.runs << " runs, " << score.causes << " of " << score.stragglers << " causes");
  CHECK(score.right * 100 >= score.runs * 99);
  CHECK(score.causes * 100 >= score.stragglers * 97);
}

TEST_CASE("stragglers: in 200 jobs without one none is named", "[slow]") {
  std::size_t runs = 0, named_runs = 0;
  for (std::uint64_t seed = 1; seed <= 200; seed += case_step()) {
    MadeTraining job = some_job(seed);
    job.stragglers.clear();
    const auto found = named(MadeEvents(job).lateness());
    if (!found.empty()) UNSCOPED_INFO("seed " << seed << ", lost " << job.lost << ": rank " << found.begin()->first);
    ++runs, named_runs += !found.empty();
  }
  INFO(named_runs << " of " << runs);
  CHECK(named_runs * 100 <= runs);
}
