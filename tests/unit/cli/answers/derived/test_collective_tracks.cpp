// Wait and transfer of each rank in each collective, as they are drawn: they add up to what match.h says of it.
#include <map>
#include <random>

#include "cli/answers/derived/collective_tracks.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/export/small_trace.h"
#include "tests/unit/cli/timeline/collectives/made_collectives.h"

using namespace cli;

namespace {

MadeCollectives made_job() {
  MadeJob job;
  job.most_offset_ns = job.most_drift = 0, job.late_rank = 3, job.late_ns = 100'000, job.lost = 0.02;
  MadeCollectives made(job);
  made.catalog.tracks.push_back({});  // where all of their work is
  return made;
}

struct Sums : DerivedSink {
  void derived(const Derived& d) override {
    REQUIRE(d.track == DerivedTrack::collectives);
    std::int64_t& newest = newest_ns[track_of(d)];
    CHECK(d.start_ns >= newest);
    newest = d.start_ns;
    CHECK((d.start_ns >= from_ns && d.start_ns + d.duration_ns <= to_ns));
    (d.facts.part == CollectivePart::wait ? wait_ns : transfer_ns)[{d.process, d.facts.collective}] += d.duration_ns;
    lengths_ns[{d.process, d.facts.collective, d.facts.part}] = d.facts.length_ns;
    ++slices;
  }
  std::map<DerivedTrackKey, std::int64_t> newest_ns;
  std::map<std::pair<ProcessId, const JoinedCollective*>, std::int64_t> wait_ns, transfer_ns;
  std::map<std::tuple<ProcessId, const JoinedCollective*, CollectivePart>, std::int64_t> lengths_ns;
  std::int64_t from_ns = INT64_MIN, to_ns = INT64_MAX;
  std::size_t slices = 0;
};

std::vector<bool> all_of(const Catalog& catalog) { return std::vector<bool>(catalog.processes.size(), true); }

}  // namespace

TEST_CASE("collective tracks: waits and transfers are those of the collectives") {
  const MadeCollectives made = made_job();
  const MatchedCollectives matched = match_collectives(made.calls, made.catalog);
  std::map<ProcessId, std::int64_t> waits_ns;
  std::int64_t transfers_ns = 0;
  std::size_t divided = 0, all = 0, whole = 0;
  for (const MatchedCollective& each : matched.collectives) {
    const CollectiveTimes times = times_of(matched, made.calls, each);
    all += each.calls > 1, whole += each.calls > 1 && times.all_started;
    if (!times.transfer_ns) continue;
    ++divided, transfers_ns += *times.transfer_ns;
    for (const MatchedCall& call : matched.calls_of(each))
      waits_ns[call.process] += times.last_start_ns - call_of(made.calls, call).gpu_start_ns;
  }
  REQUIRE((divided > 100 && divided < all));
  const JoinedCollectives joined = join_collectives(made.calls, made.catalog);
  CHECK(joined.collectives.size() == whole);
  REQUIRE(joined.notes.size() == 1);
  CHECK_THAT(joined.notes[0],
             contains_text(std::to_string(all - divided) + " of " + std::to_string(all) + " collectives have no wait"));
  Sums sums;
  CollectiveTracks(joined, all_of(made.catalog), sums).finish();
  std::map<ProcessId, std::int64_t> drawn_ns;
  for (const auto& [key, ns] : sums.wait_ns) drawn_ns[key.first] += ns;
  CHECK(drawn_ns == waits_ns);
  std::map<const JoinedCollective*, std::int64_t> longest_ns;
  for (const auto& [key, ns] : sums.transfer_ns) longest_ns[key.second] = std::max(longest_ns[key.second], ns);
  CHECK(longest_ns.size() == divided);
  std::int64_t longest_of_all_ns = 0;
  for (const auto& [collective, ns] : longest_ns) longest_of_all_ns += ns;
  CHECK(longest_of_all_ns == transfers_ns);
}

TEST_CASE("collective tracks: only of ranks that are drawn") {
  const MadeCollectives made = made_job();
  const JoinedCollectives joined = join_collectives(made.calls, made.catalog);
  std::vector<bool> drawn(made.catalog.processes.size());
  drawn[2] = true;
  Sums sums;
  CollectiveTracks(joined, drawn, sums).finish();
  CHECK(sums.slices == joined.parts[2].size());
  for (const auto& [key, ns] : sums.wait_ns) CHECK(key.first == 2);
}

TEST_CASE("collective tracks: a cut parts what crosses it, and nothing is lost") {
  const MadeCollectives made = made_job();
  const JoinedCollectives joined = join_collectives(made.calls, made.catalog);
  Sums whole;
  CollectiveTracks(joined, all_of(made.catalog), whole).finish();
  const std::int64_t from_ns = made.clock(0, 0), length_ns = static_cast<std::int64_t>(made.length_ns());
  std::mt19937_64 random(5);
  std::vector<std::int64_t> cuts;
  for (int i = 0; i < 200; ++i)
    cuts.push_back(from_ns + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(length_ns)));
  for (int i = 0; i < 50; ++i)
    cuts.push_back(joined.parts[random() % 8][i].end_ns), cuts.push_back(joined.parts[random() % 8][i].start_ns);
  std::sort(cuts.begin(), cuts.end());
  Sums in_two;
  CollectiveTracks tracks(joined, all_of(made.catalog), in_two);
  for (const std::int64_t cut : cuts) {
    in_two.to_ns = cut;
    tracks.until(static_cast<ProcessId>(random() % 8), cut - static_cast<std::int64_t>(random() % 100'000));
    tracks.cut(cut);
    in_two.from_ns = cut;
  }
  in_two.to_ns = INT64_MAX;
  tracks.finish();
  CHECK(in_two.slices > whole.slices + 100);
  CHECK(in_two.wait_ns == whole.wait_ns);
  CHECK(in_two.transfer_ns == whole.transfer_ns);
  CHECK(in_two.lengths_ns == whole.lengths_ns);
}

TEST_CASE("collective tracks: too many calls are not joined, and that is said") {
  SmallTrace t;
  for (int rank = 0; rank < 2; ++rank) {
    const TrackId stream = t.stream(t.process(rank));
    for (int i = 0; i < 20; ++i)
      t.add(stream, Kind::kernel, "ncclDevKernel_AllReduce_Sum_f32_RING_LL()", 1000 * i * i + 10 * rank, 500);
  }
  for (const std::uint64_t most : {39, 40}) {
    CollectiveJoin join(t.catalog, most);
    for (const auto& [event, facts] : t.events) join.event(event, facts);
    const JoinedCollectives joined = join.take();
    const bool is_said = joined.notes.size() == 1 && joined.notes[0].find("too many") != std::string::npos;
    CHECK(is_said == (most < 40));
    CHECK(joined.calls.empty() == (most < 40));
  }
}
