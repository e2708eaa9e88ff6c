// Collectives are matched over ranks: all of them, and none wrongly, against a job whose truth is known.
#include "cli/collectives/align_lanes.h"
#include "made_collectives.h"
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
      calls.processes.push_back({{lanes[rank]}, 0});
    }
  }
  MatchedCollectives match() const { return match_collectives(calls, catalog); }
  std::string trouble(std::size_t at) const {
    const MatchedCollectives matched = match();
    return trouble_text(matched, calls, catalog, matched.collectives.at(at));
  }
};

}  // namespace

TEST_CASE("match: numbered calls, whatever is lost and whenever a rank begins") {
  for (const double lost : {0.0, 0.1, 0.3}) {
    MadeJob job;
    job.lost = lost;
    check_jobs(job, true);
    job.most_late = 60;
    check_jobs(job, true);
  }
}

TEST_CASE("match: ranks that number from where their recording began") {
  MadeJob job;
  job.counts_from_late = true, job.most_late = 30;
  CHECK(check_jobs(job, false) > 3000);
  job.one_kind = true, job.hosts_are_known = false;
  CHECK(check_jobs(job, false) > 3000);
}

TEST_CASE("match: calls without numbers, of windows that begin at different moments") {
  for (const bool known : {true, false}) {
    MadeJob job;
    job.counted = true, job.most_late = 8, job.hosts_are_known = known;
    check_jobs(job, true);
    job.one_kind = true;
    check_jobs(job, true);
  }
}

TEST_CASE("match: calls without numbers and with losses are refused rather than matched wrongly") {
  for (const double lost : {0.001, 0.01, 0.1, 0.3}) {
    for (const bool one_kind : {false, true}) {
      MadeJob job;
      job.counted = true, job.lost = lost, job.one_kind = one_kind, job.most_late = 8;
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
    for (const MatchedGroup& group : matched.groups) CHECK((group.size == 2 || group.size == 4 || group.size == 8));
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
  CHECK_THAT(matched.refusals[0].why, contains_text("no shift of") && contains_text("whatever the offset of the clocks"));
}

TEST_CASE("match: what is wrong with a collective is named") {
  CollectiveWhat reduce, gather;
  reduce.operation = Operation::all_reduce, reduce.message_bytes = 4096;
  gather.operation = Operation::all_gather, gather.message_bytes = 64;
  SmallJob job({lane({call(0, 10, 20, 1), call(1, 30, 40, 1), call(2, 50, kNoTime, 1)}),
                lane({call(0, 11, 20, 1), call(1, 31, 40, 2), call(2, 51, kNoTime, 1)}), lane({call(0, 12, 21, 1), call(1, 32, 40, 1)})},
               4);
  REQUIRE(job.calls.whats.intern(reduce) == 1);
  REQUIRE(job.calls.whats.intern(gather) == 2);
  const MatchedCollectives matched = job.match();
  REQUIRE(matched.collectives.size() == 3);
  CHECK(matched.collectives[0].state == CollectiveState::missing_ranks);
  CHECK(job.trouble(0) == "1 of 4 ranks are not in the trace");
  CHECK(matched.collectives[1].state == CollectiveState::mismatch);
  CHECK_THAT(job.trouble(1), contains_text("rank 1: all_gather of 64 bytes, the others all_reduce of 4096 bytes"));
  CHECK(matched.collectives[2].state == CollectiveState::open);
  CHECK_THAT(job.trouble(2), contains_text("not ended on ranks 0-1; not in the trace of rank 2"));
}

TEST_CASE("match: a group of one is complete, and of sends and receives two are") {
  SmallJob alone({lane({call(0, 10, 20)})}, 1);
  CHECK(alone.match().collectives.at(0).state == CollectiveState::complete);

  CollectiveLane sends = lane({call(0, 10, 20), call(1, 30, 40)}), receives = lane({call(0, 11, 21), call(1, 31, 41)});
  for (CollectiveLane* each : {&sends, &receives}) each->point_to_point = true, each->source = 0, each->destination = 1;
  SmallJob pair({sends, receives}, 8);
  const MatchedCollectives matched = pair.match();
  REQUIRE(matched.collectives.size() == 2);
  for (const MatchedCollective& each : matched.collectives) CHECK((each.state == CollectiveState::complete && each.calls == 2));

  sends.source = -1;
  SmallJob unknown({sends}, 8);
  CHECK(unknown.match().collectives.empty());
  CHECK_THAT(unknown.match().refusals.at(0).why, contains_text("not known between which ranks"));
}

TEST_CASE("match: times of a collective, and of its transfer where they are known") {
  CollectiveWhat reduce;
  reduce.operation = Operation::all_reduce;
  SmallJob job({lane({call(0, 10, 100, 1), call(1, 200, 300, 1)}), lane({call(0, 70, 101, 1), call(1, 210, kNoTime, 1)})}, 2);
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
