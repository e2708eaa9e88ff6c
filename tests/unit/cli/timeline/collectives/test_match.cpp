// Collectives are matched over ranks: all of them, and none wrongly, against a job whose truth is known.
#include <algorithm>
#include <ctime>
#include <map>
#include <random>
#include <set>

#include "made_collectives.h"
#include "parallel_jobs.h"
#include "tests/case_step.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

// A job of many seeds, matched: nothing wrong; and where nothing may be missed, nothing missed. Returns how much was right.
std::size_t check_jobs(MadeJob job, bool all, std::uint64_t seeds = 20) {
  std::size_t right = 0;
  for (job.seed = 1; job.seed <= seeds; ++job.seed) {
    const MadeCollectives made(job);
    const MatchedCollectives matched = match_collectives(made.calls, made.catalog);
    const MatchScore got = score(made, matched);
    INFO("seed " << job.seed << ", right " << got.right << ", wrong " << got.wrong << ", missed " << got.missed);
    CHECK(got.wrong == 0);
    if (all) CHECK(got.missed == 0);
    right += got.right;
  }
  return right;
}

CollectiveLane lane(std::initializer_list<CollectiveCall> calls, CommunicatorId communicator = 0) {
  CollectiveLane made;
  made.communicator = communicator, made.numbering = Numbering::numbered, made.calls = calls;
  return made;
}

CollectiveCall call(std::int64_t position, std::int64_t start_ns, std::int64_t end_ns, WhatId what = 0) {
  CollectiveCall made;
  made.position = position, made.gpu_start_ns = start_ns, made.gpu_end_ns = end_ns, made.what = what;
  return made;
}

// Ranks 0, 1, ... with one lane each.
struct SmallJob {
  Catalog catalog;
  CollectiveCalls calls;

  explicit SmallJob(std::vector<CollectiveLane> lanes, std::int64_t size = -1) {
    CommunicatorInfo info;
    info.label = "0xc0ffee", info.size = size;
    calls.communicators.push_back(info);
    for (std::size_t rank = 0; rank < lanes.size(); ++rank) {
      Process process;
      process.rank = static_cast<std::int64_t>(rank), process.state = RecordingState::clean;
      catalog.processes.push_back(process);
      calls.processes.emplace_back().lanes = {lanes[rank]};
    }
  }
  MatchedCollectives match() const { return match_collectives(calls, catalog); }
  std::string trouble(std::size_t at) const {
    const MatchedCollectives matched = match();
    return trouble_text(matched, calls, catalog, matched.collectives.at(at));
  }
};

// Steps of a job on one clock: ranks of a group compute, wait for the last of them, and are done nearly together.
class LockstepJob {
 public:
  Catalog catalog;
  CollectiveCalls calls;

  LockstepJob(std::size_t ranks, std::size_t streams, Operation operation = Operation::all_reduce)
      : now_ns_(ranks, 1'000'000.0) {
    CollectiveWhat what;
    what.operation = operation;
    what_ = calls.whats.intern(what);
    calls.communicators.push_back({});
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      Process process;
      process.rank = static_cast<std::int64_t>(rank), process.world_size = static_cast<std::int64_t>(ranks),
      process.host = "node1", process.state = RecordingState::clean;
      catalog.processes.push_back(process);
      calls.processes.push_back({std::vector<CollectiveLane>(streams), 0});
    }
  }
  void seed(std::uint64_t seed) { random_.seed(seed); }
  double random(double most) { return std::uniform_real_distribution<>(0, most)(random_); }
  void work(const std::vector<std::size_t>& ranks, std::size_t stream, double compute_ns, double transfer_ns) {
    std::vector<double> starts;
    for (const std::size_t rank : ranks) starts.push_back(now_ns_[rank] + compute_ns * (1 + random(0.05)));
    const double done = *std::max_element(starts.begin(), starts.end()) + transfer_ns * (1 + random(0.05));
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      now_ns_[ranks[i]] = done + random(2000);
      add(ranks[i], stream, starts[i], now_ns_[ranks[i]]);
    }
  }
  void add(std::size_t rank, std::size_t stream, double start_ns, double end_ns) {
    auto& all = calls.processes[rank].lanes[stream].calls;
    all.push_back(call(std::ssize(all), static_cast<std::int64_t>(start_ns), static_cast<std::int64_t>(end_ns), what_));
  }
  // Their calls are of one communicator, and numbered; by PyTorch with a place between numbers.
  void number(std::int64_t step = 1) {
    calls.communicators[0].label = "0", calls.communicators[0].size = std::ssize(calls.processes);
    for (ProcessCalls& process : calls.processes) {
      for (CollectiveLane& lane : process.lanes) {
        lane.numbering = Numbering::numbered, lane.ordinal_step = step;
        for (CollectiveCall& call : lane.calls) call.position *= step;
      }
    }
  }
  void shift(std::size_t rank, std::size_t from, std::size_t to, std::int64_t by_ns) {
    auto& all = calls.processes[rank].lanes[0].calls;
    for (std::size_t i = from; i < to; ++i) all[i].gpu_start_ns += by_ns, all[i].gpu_end_ns += by_ns;
  }
  // How many collectives are complete, by their ranks.
  std::map<std::set<ProcessId>, std::size_t> complete() const {
    std::map<std::set<ProcessId>, std::size_t> found;
    const MatchedCollectives matched = match_collectives(calls, catalog);
    for (const MatchedCollective& each : matched.collectives) {
      std::set<ProcessId> ranks;
      for (const MatchedCall& one : matched.calls_of(each)) ranks.insert(one.process);
      if (state_name(each.state) == "complete") ++found[ranks];
    }
    return found;
  }

 private:
  std::mt19937_64 random_{7};
  std::vector<double> now_ns_;
  WhatId what_ = 0;
};

// Tensor parallelism of neighbours, data parallelism of those at one place.
LockstepJob tensor_and_data(std::size_t tensor, std::size_t data) {
  LockstepJob job(tensor * data, 2);
  std::vector<std::vector<std::size_t>> of_tensor(data), of_data(tensor);
  for (std::size_t rank = 0; rank < tensor * data; ++rank)
    of_tensor[rank / tensor].push_back(rank), of_data[rank % tensor].push_back(rank);
  for (int step = 0; step < 20; ++step) {
    for (int layer = 0; layer < 24; ++layer) {
      for (const auto& group : of_tensor) job.work(group, 0, 200'000, 150'000);
    }
    for (const auto& group : of_data) job.work(group, 1, 300'000, 2'000'000);
  }
  return job;
}

}  // namespace

TEST_CASE("match: numbered calls, whatever is lost and whenever a rank begins", "[slow]") {
  for (const double lost : {0.0, 0.1, 0.3}) {
    MadeJob job;
    job.lost = lost;
    check_jobs(job, true);
    job.most_late = 60;
    check_jobs(job, true);
  }
}

TEST_CASE("match: ranks that number from where their recording began", "[slow]") {
  MadeJob job;
  job.counts_from_late = true, job.most_late = 30;
  CHECK(check_jobs(job, false) > 3000);
  job.one_kind = true, job.hosts_are_known = false;
  CHECK(check_jobs(job, false) > 3000);
}

TEST_CASE("match: calls without numbers, of windows that begin at different moments", "[slow]") {
  for (const bool known : {true, false}) {
    MadeJob job;
    job.counted = true, job.most_late = 8, job.hosts_are_known = known;
    check_jobs(job, true);
    job.one_kind = true;
    check_jobs(job, true);
  }
}

TEST_CASE("match: calls without numbers and with losses are refused rather than matched wrongly", "[slow]") {
  for (const double lost : {0.001, 0.01, 0.1, 0.3}) {
    for (const bool one_kind : {false, true}) {
      if (case_step() > 1 && lost != 0.1) continue;
      MadeJob job;
      job.counted = true, job.lost = lost, job.one_kind = one_kind, job.most_late = 8;
      check_jobs(job, false);
      job.unnamed = true;
      check_jobs(job, false);
    }
  }
}

TEST_CASE("match: the ranks of communicators that nobody names are found from who takes part") {
  MadeJob job;
  job.counted = true, job.unnamed = true, job.steps = 30;
  for (job.seed = 1; job.seed <= 10; ++job.seed) {
    const MadeCollectives made(job);
    const MatchedCollectives matched = match_collectives(made.calls, made.catalog);
    const MatchScore got = score(made, matched);
    INFO("seed " << job.seed);
    CHECK(got.wrong == 0);
    CHECK(got.missed == 0);
    for (const MatchedGroup& group : matched.groups)
      CHECK((group.size == -1 || group.size == std::ssize(group.members)));
  }
}

TEST_CASE("match: groups in lockstep are not one, where nobody names them") {
  const auto found = tensor_and_data(2, 2).complete();
  const std::map<std::set<ProcessId>, std::size_t> expected{{{0, 1}, 480}, {{2, 3}, 480}, {{0, 2}, 20}, {{1, 3}, 20}};
  CHECK(found == expected);
  // Of larger ones less is told for sure, and nothing wrong.
  for (const auto& [ranks, count] : tensor_and_data(8, 2).complete()) {
    std::set<ProcessId> hosts, places;
    for (const ProcessId rank : ranks) hosts.insert(rank / 8), places.insert(rank % 8);
    CHECK((hosts.size() == 1 || places.size() == 1));
  }
}

TEST_CASE("match: ranks that begin alike are refused where nobody names their communicator, and it is said why") {
  LockstepJob job(2, 1);
  for (int i = 0; i < 100; ++i) {
    const double start = 1e6 + i * 1e6 + job.random(300'000);
    for (const std::size_t rank : {0u, 1u})
      job.add(rank, 0, start + job.random(2000), start + 50'000 + job.random(2000));
  }
  const MatchedCollectives matched = match_collectives(job.calls, job.catalog);
  CHECK(matched.collectives.empty());
  REQUIRE(matched.refusals.size() == 2);
  CHECK_THAT(matched.refusals[0].why,
             contains_text("too few starts differ to prove a match; the ranks may run in lockstep"));
}

namespace {

// Eight ranks of one communicator, on clocks of their own. Most calls begin alike; in each eighth one rank is late.
LockstepJob late_in_turn(std::size_t calls, std::uint64_t seed = 7) {
  LockstepJob job(8, 1);
  job.seed(seed);
  double now = 1e6;
  for (std::size_t i = 0; i < calls; ++i) {
    const std::size_t late = i % 8 == 0 ? i / 8 % 8 : 8;
    const double done = now + (late < 8 ? 8e6 + job.random(1e6) : 0) + 400'000 + job.random(200'000);
    for (std::size_t rank = 0; rank < 8; ++rank) {
      const double start =
          rank == late ? done - 350'000 : now + job.random(50'000);  // arguments of a call have no order
      job.add(rank, 0, start, done + job.random(30'000));
    }
    now = done + 300'000 + job.random(200'000);
  }
  for (std::size_t rank = 0; rank < 8; ++rank) {
    job.catalog.processes[rank].host.clear();
    job.shift(rank, 0, calls, static_cast<std::int64_t>(rank % 3) * 2'500'000'000 - 2'000'000'000);
  }
  return job;
}

void lose(LockstepJob& job, std::size_t rank, std::size_t at) {
  auto& calls = job.calls.processes[rank].lanes[0].calls;
  calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(at));
  for (std::size_t i = at; i < calls.size(); ++i) --calls[i].position;
}

std::set<ProcessId> first_ranks(std::size_t count) {
  std::set<ProcessId> ranks;
  for (ProcessId rank = 0; rank < count; ++rank) ranks.insert(rank);
  return ranks;
}

}  // namespace

TEST_CASE("match: the calls in which somebody is late prove a group, though most begin alike") {
  LockstepJob job = late_in_turn(84);
  CHECK(job.complete() == std::map<std::set<ProcessId>, std::size_t>{{first_ranks(8), 84}});
  // Of a job with more ranks, others may be in it.
  for (Process& process : job.catalog.processes) process.world_size = 16;
  const MatchedCollectives matched = match_collectives(job.calls, job.catalog);
  REQUIRE(matched.collectives.size() == 84);
  CHECK(matched.groups.at(0).size == -1);
  CHECK(matched.collectives[0].state == CollectiveState::missing_ranks);
  CHECK(trouble_text(matched, job.calls, job.catalog, matched.collectives[0]) == "its other ranks are unknown");
  CHECK_FALSE(times_of(matched, job.calls, matched.collectives[0]).transfer_ns.has_value());
}

namespace {

void check_lost_kernels(std::uint64_t seeds) {
  // The times do not always say which call was lost: then nothing is matched. What is matched is right.
  std::size_t after_one = 0, after_two = 0, jobs = 0;
  for (const bool named : {false, true}) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      for (const std::size_t at : {std::size_t{0}, std::size_t{40}, std::size_t{83}}) {
        INFO(named << ", " << seed << ", " << at);
        LockstepJob job = late_in_turn(84, seed);
        if (named) job.calls.communicators[0].label = "0", job.calls.communicators[0].size = 8;
        std::size_t left = 84;
        for (std::size_t* found : {&after_one, &after_two}) {
          found == &after_one ? lose(job, 3, at) : lose(job, 5, at == 40 ? 20 : 41);
          --left;
          const auto complete = job.complete();
          if (!complete.empty()) CHECK(complete == std::map<std::set<ProcessId>, std::size_t>{{first_ranks(8), left}});
          *found += !complete.empty();
        }
        ++jobs;
      }
    }
  }
  INFO(after_one << " and " << after_two << " of " << jobs);
  CHECK(after_one * 10 >= jobs * 9);
  CHECK(after_two * 3 >= jobs * 2);
}

}  // namespace

TEST_CASE("match: a lost kernel costs the collective that it is of, and no other") { check_lost_kernels(1); }
TEST_CASE("match: a lost kernel costs the collective that it is of, of many jobs", "[long]") { check_lost_kernels(60); }

TEST_CASE("match: where two groupings explain the times, none is chosen and both are named") {
  // Ranks 0 and 1, and ranks 2 and 3, are late together: one group of four, or two of two.
  LockstepJob job(4, 1);
  double now = 1e6;
  for (std::size_t i = 0; i < 60; ++i) {
    const bool first = job.random(1) < 0.5;
    const double late = now + 2e6 + job.random(1e6), done = late + 100'000;
    for (std::size_t rank = 0; rank < 4; ++rank)
      job.add(rank, 0, ((rank < 2) == first ? late : now) + job.random(3000), done + job.random(3000));
    now = done + 300'000 + job.random(200'000);
  }
  const MatchedCollectives matched = match_collectives(job.calls, job.catalog);
  CHECK(matched.collectives.empty());
  REQUIRE(matched.refusals.size() == 4);
  CHECK_THAT(matched.refusals[0].why,
             contains_text("ranks 0-3 may be one communicator, or") && contains_text("the times allow both"));
}

TEST_CASE("match: jobs of tensor, data and pipeline parallelism, with all names, some or none", "[slow]") {
  ParallelScore sum;
  for (std::uint64_t seed = 1; seed <= 60; seed += case_step()) {
    const ParallelJobCalls job(ParallelJob::drawn(seed));
    const ParallelScore got = judge(job, match_collectives(job.calls, job.catalog));
    INFO("seed " << seed);
    CHECK(got.wrong == 0);
    CHECK(got.false_complete == 0);
    sum += got;
  }
  CHECK(sum.proved * 100 >= sum.provable * 95);
}

TEST_CASE("match: no lane joins a group while its own group is not understood", "[slow]") {
  // A member of the lane's own group lost calls, or cannot be compared with the first lane of the other group.
  for (const std::uint64_t seed : {173u, 371u, 770u, 793u, 1424u}) {
    const ParallelJobCalls job(ParallelJob::drawn(seed));
    const ParallelScore got = judge(job, match_collectives(job.calls, job.catalog));
    INFO("seed " << seed);
    CHECK(got.wrong == 0);
    CHECK(got.false_complete == 0);
    CHECK(got.right > 0);
  }
}

TEST_CASE("match: numbers are believed where ends of broadcasts differ") {
  // As of DistributedDataParallel: a small broadcast of rank 0, for which rank 1 is up to 4 ms late, then a sum of gradients.
  LockstepJob job(2, 1);
  CollectiveWhat broadcast;
  broadcast.operation = Operation::broadcast;
  const WhatId what = job.calls.whats.intern(broadcast);
  double now = 1e6;
  for (int i = 0; i < 200; ++i) {
    const double late = now + job.random(4e6);
    job.add(0, 0, now, now + 20'000), job.add(1, 0, late, late + 15'000);
    for (const std::size_t rank : {0u, 1u}) job.calls.processes[rank].lanes[0].calls.back().what = what;
    const double done = late + 5e6 + 300'000;
    job.add(0, 0, late + 5e6 - job.random(200'000), done), job.add(1, 0, late + 5e6 - job.random(200'000), done + 2000);
    now = done;
  }
  job.number();
  CHECK(job.complete() == std::map<std::set<ProcessId>, std::size_t>{{{0, 1}, 400}});
}

TEST_CASE("match: numbers are believed where a clock was set, runs fast, or is another one than its name says") {
  const auto made = [](std::size_t steps) {
    LockstepJob job(4, 1);
    for (std::size_t i = 0; i < steps; ++i) job.work({0, 1, 2, 3}, 0, 2'000'000, 200'000);
    return job;
  };
  const auto all = [](std::size_t steps) { return std::map<std::set<ProcessId>, std::size_t>{{{0, 1, 2, 3}, steps}}; };
  for (const std::int64_t step : {1, 256}) {  // of a recording and of a profile
    LockstepJob set = made(300);
    set.shift(0, 100, 200, 3'000'000);
    set.number(step);
    CHECK(set.complete() == all(300));
    CHECK_THAT(match_collectives(set.calls, set.catalog).notes.at(0), contains_text("are used although times differ"));
    LockstepJob two_hosts = made(300);
    for (const std::size_t rank : {2u, 3u}) two_hosts.shift(rank, 0, 300, 23'000'000);
    two_hosts.number(step);
    CHECK(two_hosts.complete() == all(300));
    LockstepJob fast = made(2000);
    for (std::size_t i = 0; i < 2000; ++i) fast.shift(0, i, i + 1, static_cast<std::int64_t>(i) * 700);
    fast.number(step);
    CHECK(fast.complete() == all(2000));
  }
}

TEST_CASE("match: one rank that counts from elsewhere makes no other unsure") {
  LockstepJob job(6, 1);
  for (int i = 0; i < 300; ++i) {
    for (std::size_t rank = 0; rank < 6; ++rank) job.work({rank}, 0, 300'000 * (1 + job.random(3)), 0);
    job.work({0, 1, 2, 3, 4, 5}, 0, 2'000'000, 200'000);
  }
  for (std::size_t rank = 0; rank < 6; ++rank) {  // only what all do together
    auto& all = job.calls.processes[rank].lanes[0].calls;
    std::vector<CollectiveCall> together;
    for (std::size_t i = 1; i < all.size(); i += 2)
      together.push_back(all[i]), together.back().position = std::ssize(together) - 1;
    if (rank == 0) {  // saw all, and counts from 5
      for (CollectiveCall& each : together) each.position += 5;
    } else {
      together.pop_back();
    }
    all = together;
  }
  job.number();
  // A communicator that is too small to prove anything.
  CommunicatorInfo info;
  info.label = "1", info.size = 2;
  job.calls.communicators.push_back(info);
  for (const std::size_t rank : {2u, 3u}) {
    CollectiveLane small = job.calls.processes[rank].lanes[0];
    small.communicator = 1, small.calls.resize(3);
    job.calls.processes[rank].lanes.push_back(small);
  }
  const auto found = job.complete();
  CHECK(found == std::map<std::set<ProcessId>, std::size_t>{{{0, 1, 2, 3, 4, 5}, 299}, {{2, 3}, 3}});
  const MatchedCollectives matched = match_collectives(job.calls, job.catalog);
  REQUIRE(matched.notes.size() == 1);
  CHECK_THAT(matched.notes[0],
             contains_text("rank 0 counts the collectives of communicator 0 from another start than rank"));
}

TEST_CASE("match: where many shifts are alike, that is found soon", "[slow]") {
  const auto seconds = [](LockstepJob& job) {
    const std::clock_t begin = std::clock();
    CHECK(job.complete().empty());
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  const double most_s = case_step() > 1 ? 60 : 10;  // of a processor; a sanitizer takes twenty times as long
  SECTION("of ranks that communicate nearly all the time") {
    LockstepJob job(8, 1);
    for (std::size_t rank = 0; rank < 8; ++rank) {
      for (std::size_t i = 0; i < few(3000); ++i) {
        const double start = 1e6 * static_cast<double>(i) + job.random(90'000);
        job.add(rank, 0, start, start + 900'000);
      }
      job.catalog.processes[rank].host.clear();
    }
    CHECK(seconds(job) < most_s);
  }
  SECTION("of broadcasts, whose ends tell nothing") {
    LockstepJob job(2, 1, Operation::broadcast);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      for (int i = 0; i < 20'000; ++i) job.add(rank, 0, 1e6 * i + job.random(300'000), 1e6 * i + 400'000);
      job.catalog.processes[rank].host.clear();
    }
    CHECK(seconds(job) < 1);
  }
  SECTION("of many streams") {
    LockstepJob job(8, 8, Operation::send_receive);
    for (std::size_t rank = 0; rank < 8; ++rank) {
      for (std::size_t stream = 0; stream < 8; ++stream) {
        double start = 0;
        for (std::size_t i = 0; i < few(400); ++i)
          start += 1e6 + job.random(300'000), job.add(rank, stream, start, start + 900'000);
      }
      job.catalog.processes[rank].host.clear();
    }
    CHECK(seconds(job) < most_s);
  }
}

TEST_CASE("match: two ranks whose calls have nothing in common are refused, and it is said why") {
  MadeJob job;
  job.counted = true, job.hosts = 1, job.ranks_per_host = 2, job.one_kind = true, job.hosts_are_known = false;
  MadeCollectives one(job);
  job.seed = 2;
  const MadeCollectives other(job);
  one.calls.processes[1] = other.calls.processes[1];
  const MatchedCollectives matched = match_collectives(one.calls, one.catalog);
  CHECK(matched.collectives.empty());
  REQUIRE(matched.refusals.size() >= 2);
  CHECK_THAT(matched.refusals[0].why, contains_text("none of ") && contains_text(" shifts is possible") &&
                                          contains_text("whatever the offset of the clocks"));
}

TEST_CASE("match: what is wrong with a collective is named") {
  CollectiveWhat reduce, gather;
  reduce.operation = Operation::all_reduce, reduce.message_bytes = 4096;
  gather.operation = Operation::all_gather, gather.message_bytes = 64;
  SmallJob job({lane({call(0, 10, 20, 1), call(1, 30, 40, 1), call(2, 50, kNoTime, 1)}),
                lane({call(0, 11, 20, 1), call(1, 31, 40, 2), call(2, 51, kNoTime, 1)}),
                lane({call(0, 12, 21, 1), call(1, 32, 40, 1)})},
               4);
  REQUIRE(job.calls.whats.intern(reduce) == 1);
  REQUIRE(job.calls.whats.intern(gather) == 2);
  const MatchedCollectives matched = job.match();
  REQUIRE(matched.collectives.size() == 3);
  CHECK(matched.collectives[0].state == CollectiveState::missing_ranks);
  CHECK(job.trouble(0) == "1 of 4 ranks are not in the trace");
  CHECK(matched.collectives[1].state == CollectiveState::mismatch);
  CHECK_THAT(job.trouble(1),
             contains_text("rank 1 called all_gather of 64 bytes, the others all_reduce of 4096 bytes"));
  CHECK(matched.collectives[2].state == CollectiveState::open);
  CHECK_THAT(job.trouble(2), contains_text("not ended on ranks 0-1; not in the trace of rank 2"));
  REQUIRE(matched.notes.size() == 1);
  CHECK_THAT(matched.notes[0], contains_text("all_reduce number 2 had not ended; ranks 0-2 completed number 1 last"));
}

TEST_CASE("match: what one rank completed was begun by all, whose newest work may be missing") {
  CollectiveWhat reduce;
  reduce.operation = Operation::all_reduce;
  const auto called = [](std::int64_t position) {
    CollectiveCall made;
    made.position = position, made.what = 1;
    made.host_start_ns = 10 + 20 * position, made.host_end_ns = made.host_start_ns + 5;
    return made;
  };
  SmallJob job({lane({call(0, 10, 20, 1), called(1), called(2), called(3)}),
                lane({call(0, 11, 20, 1), call(1, 30, 40, 1), call(2, 50, 60, 1)})},
               2);
  REQUIRE(job.calls.whats.intern(reduce) == 1);
  for (Process& process : job.catalog.processes)
    process.state = RecordingState::recovered, process.counts[static_cast<std::size_t>(Kind::kernel)] = 3;
  const MatchedCollectives matched = job.match();
  std::vector<std::string> states;
  for (const MatchedCollective& each : matched.collectives) states.emplace_back(state_name(each.state));
  CHECK(states == std::vector<std::string>{"complete", "no_gpu_work", "no_gpu_work", "open"});
  REQUIRE(matched.notes.size() == 1);
  CHECK_THAT(
      matched.notes[0],
      contains_text(
          "all_reduce number 3 had not ended; ranks 0-1 completed number 2 last; it is not in the trace of rank 1"));
}

TEST_CASE("match: ranks whose calls are refused are in the trace") {
  LockstepJob job(3, 1);
  for (int i = 0; i < 40; ++i)
    job.work({0, 1}, 0, 2'000'000, 200'000), job.work({2}, 0, 2'000'000 * (1 + job.random(20)), 200'000);
  job.calls.communicators[0].label = "0", job.calls.communicators[0].size = 4;
  const MatchedCollectives matched = match_collectives(job.calls, job.catalog);
  REQUIRE(matched.refusals.size() == 1);
  CHECK(matched.refusals[0].process == 2);
  REQUIRE(matched.collectives.size() == 40);
  CHECK(trouble_text(matched, job.calls, job.catalog, matched.collectives[0]) ==
        "could not be matched on rank 2; 1 of 4 ranks are not in the trace");
  job.calls.communicators[0].size = 3;
  const MatchedCollectives smaller = match_collectives(job.calls, job.catalog);
  CHECK(trouble_text(smaller, job.calls, job.catalog, smaller.collectives.at(0)) == "could not be matched on rank 2");
}

TEST_CASE("match: what was called, and did nothing on the GPU that is known, is not complete") {
  std::vector<CollectiveCall> called(2);
  for (std::size_t i = 0; i < called.size(); ++i) {
    called[i].position = static_cast<std::int64_t>(i);
    called[i].host_start_ns = static_cast<std::int64_t>(10 + 20 * i),
    called[i].host_end_ns = called[i].host_start_ns + 5;
  }
  SmallJob job({lane({called[0], called[1]}), lane({called[0], call(1, 30, 40)})}, 2);
  const MatchedCollectives matched = job.match();
  REQUIRE(matched.collectives.size() == 2);
  for (const MatchedCollective& each : matched.collectives) CHECK(state_name(each.state) == "no_gpu_work");
  CHECK(job.trouble(0) == "its GPU work is not in the trace of ranks 0-1");
  CHECK(job.trouble(1) == "its GPU work is not in the trace of rank 0");
}

TEST_CASE("match: two calls of one rank are not two ranks") {
  SmallJob job({lane({call(0, 10, 20)}), lane({call(1, 30, 40)})}, 2);
  job.calls.processes[0].lanes.push_back(job.calls.processes[0].lanes[0]);
  CHECK(state_name(job.match().collectives.at(0).state) == "missing_ranks");
  CHECK_FALSE(times_of(job.match(), job.calls, job.match().collectives.at(0)).all_started);
}

TEST_CASE("match: a group of one is complete, and of sends and receives two are") {
  SmallJob alone({lane({call(0, 10, 20)})}, 1);
  CHECK(alone.match().collectives.at(0).state == CollectiveState::complete);

  CollectiveLane sends = lane({call(0, 10, 20), call(1, 30, 40)}), receives = lane({call(0, 11, 21), call(1, 31, 41)});
  for (CollectiveLane* each : {&sends, &receives}) each->point_to_point = true, each->source = 0, each->destination = 1;
  SmallJob pair({sends, receives}, 8);
  const MatchedCollectives matched = pair.match();
  REQUIRE(matched.collectives.size() == 2);
  for (const MatchedCollective& each : matched.collectives)
    CHECK((each.state == CollectiveState::complete && each.calls == 2));

  sends.source = -1;
  SmallJob unknown({sends}, 8);
  CHECK(unknown.match().collectives.empty());
  CHECK_THAT(unknown.match().refusals.at(0).why, contains_text("the ranks of sends and receives are unknown"));
}

TEST_CASE("match: times of a collective, and of its transfer where they are known") {
  CollectiveWhat reduce;
  reduce.operation = Operation::all_reduce;
  SmallJob job(
      {lane({call(0, 10, 100, 1), call(1, 200, 300, 1)}), lane({call(0, 70, 101, 1), call(1, 210, kNoTime, 1)})}, 2);
  REQUIRE(job.calls.whats.intern(reduce) == 1);
  const MatchedCollectives matched = job.match();
  const CollectiveTimes times = times_of(matched, job.calls, matched.collectives[0]);
  CHECK(times.first_start_ns == 10);
  CHECK(times.last_start_ns == 70);
  CHECK(times.last_call == 1);
  CHECK(times.end_ns == 101);
  CHECK(times.transfer_ns == 31);
  CHECK_FALSE(times_of(matched, job.calls, matched.collectives[1]).transfer_ns.has_value());
}
