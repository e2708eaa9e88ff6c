#include "../scratch.h"
#include "cli/merge/ordered_trace.h"
#include "cli/model/error.h"
#include "merged_sample.h"
#include "tests/unit/catch.h"

using namespace cli;
namespace {

// A merged file of one process with `count` events, each `step` ns after the one before.
void write_rank(const std::string& path, std::int64_t rank, std::size_t count, std::int64_t step) {
  Catalog catalog;
  Process process = sample_process(rank);
  process.source = path;
  catalog.track(catalog.add_process(process), TrackKind::stream, 0, 7);
  std::vector<Collected> events(count);
  for (std::size_t i = 0; i < count; ++i) {
    events[i].event.start_ns = static_cast<std::int64_t>(i) * step;
    events[i].event.name = catalog.strings.intern("rank " + std::to_string(rank));
    events[i].facts.args = "\"i\":" + std::to_string(i);
  }
  write_merged(path, catalog, events);
}

}  // namespace

TEST_CASE("ordered trace: several inputs are one, in order, by rank, as often as asked") {
  const Scratch scratch;
  write_rank(scratch.path("a"), 1, 3000, 3);
  write_rank(scratch.path("b"), 0, 2000, 7);
  for (const std::size_t memory : {std::size_t{1000}, kDefaultMemory}) {
    const auto trace =
        order_traces({{scratch.path("a"), {}}, {scratch.path("b"), {}}}, {true, memory, scratch.folder()});
    REQUIRE(trace->catalog().processes.size() == 2);
    CHECK(trace->catalog().processes[0].rank == 0);
    CHECK(trace->catalog().processes[1].rank == 1);
    CHECK(trace->fits().size() == 4);
    Collect first, again;
    trace->walk(first);
    trace->walk(again);
    CHECK((first.all == again.all));
    REQUIRE(first.all.size() == 5000);
    for (std::size_t i = 0; i < first.all.size(); ++i) {
      const Event& event = first.all[i].event;
      if (i > 0) REQUIRE(first.all[i - 1].event.start_ns <= event.start_ns);
      const Process& process = trace->catalog().processes[trace->catalog().tracks[event.track].process];
      REQUIRE(trace->catalog().strings[event.name] == "rank " + std::to_string(process.rank));
    }
  }
}

TEST_CASE("ordered trace: a rank that comes twice is refused, unless it is given another") {
  const Scratch scratch;
  write_rank(scratch.path("a"), 1, 3, 3);
  write_rank(scratch.path("b"), 1, 3, 3);
  CHECK_THROWS_WITH(order_traces({{scratch.path("a"), {}}, {scratch.path("b"), {}}}, {}),
                    contains_text("rank 1") && contains_text(scratch.path("a")) && contains_text(scratch.path("b")));
  const auto trace = order_traces({{scratch.path("a"), {}}, {scratch.path("b"), 0}}, {});
  CHECK(trace->catalog().processes[0].source == scratch.path("b"));
  CHECK(trace->catalog().processes[0].rank_source == RankSource::option);
}

TEST_CASE("ordered trace: of what is not chosen the first and the last stay, and arguments go") {
  const Scratch scratch;
  write_rank(scratch.path("a"), 1, 300, 3);
  write_rank(scratch.path("b"), 0, 200, 7);
  MergeOptions options{true, 1000, scratch.folder(), {}};
  options.choice = [](const Catalog&, const Event& event) { return event.start_ns % 100 == 21; };
  const auto trace = order_traces({{scratch.path("a"), {}}, {scratch.path("b"), {}}}, options);
  Collect out;
  trace->walk(out);
  std::vector<std::int64_t> starts;
  for (const Collected& each : out.all) {
    starts.push_back(each.event.start_ns);
    CHECK(each.facts.args.empty());
  }
  CHECK(starts == std::vector<std::int64_t>{0, 0, 21, 21, 321, 621, 721, 897, 1393});
}

TEST_CASE("ordered trace: one merged file is taken as it is") {
  const Scratch scratch;
  write_rank(scratch.path("a"), 4, 100, 3);
  const auto trace = order_traces({{scratch.path("a"), {}}}, {});
  CHECK(trace->catalog().processes[0].rank == 4);
  CHECK(trace->fits().size() == 2);
  Collect out;
  trace->walk(out);
  CHECK(out.all.size() == 100);
}
