#include <thread>

#include "cli/base/error.h"
#include "cli/formats/ttrace/writer.h"
#include "cli/timeline/merge/merge_inputs.h"
#include "cli/timeline/merge/ordered_trace.h"
#include "merged_sample.h"
#include "tests/case_step.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/scratch.h"

using namespace cli;
using namespace cli::ttrace;
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

// 12 of different sizes, the last rank first.
std::vector<TraceInput> write_inputs(const Scratch& scratch) {
  std::vector<TraceInput> inputs;
  for (std::int64_t rank = 0; rank < 12; ++rank) {
    inputs.push_back({scratch.path("rank" + std::to_string(rank)), {}});
    write_rank(inputs.back().path, 11 - rank, rank % 3 == 0 ? 5000 : 500, 3 + rank % 5);
  }
  return inputs;
}

struct Bytes : ByteSink {
  void write(std::string_view bytes) override { all += bytes; }
  void finish() override {}
  std::string all;
};

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

TEST_CASE("ordered trace: the same on one thread as on several") {
  const Scratch scratch;
  const std::vector<TraceInput> inputs = write_inputs(scratch);
  for (const std::size_t memory : {std::size_t{200'000}, kDefaultMemory}) {
    std::vector<std::string> results;
    for (const std::size_t threads : {1, 2, 8}) {
      const auto trace = order_traces(inputs, {true, memory, scratch.folder(), {}, threads});
      struct Write : EventSink {
        void event(const Event& e, const Facts& facts) override {
          to += std::to_string(e.start_ns) + ' ' + std::to_string(e.track) + ' ' + std::to_string(e.name) + ' ' +
                std::string(facts.args) + '\n';
        }
        std::string to;
      } write;
      trace->walk(write);
      const Catalog& catalog = trace->catalog();
      for (StringId id = 0; id < catalog.strings.size(); ++id) write.to += std::string(catalog.strings[id]) + '\n';
      for (const Track& track : catalog.tracks)
        write.to += std::to_string(track.process) + ' ' + std::to_string(track.id) + '\n';
      for (const Process& process : catalog.processes)
        write.to += process.source + ' ' + std::to_string(process.rank) + '\n';
      for (const std::string& warning : trace->warnings) write.to += warning + '\n';
      results.push_back(std::move(write.to));
    }
    CHECK(results[0].size() > 100'000);
    CHECK(results[1] == results[0]);
    CHECK(results[2] == results[0]);
  }
}

TEST_CASE("merge: the same bytes on one thread as on several") {
  const Scratch scratch;
  const std::vector<TraceInput> inputs = write_inputs(scratch);
  for (const std::size_t memory : {std::size_t{200'000}, kDefaultMemory}) {
    Bytes one;
    CHECK(merge_inputs(inputs, {true, memory, scratch.folder(), {}, 1}, one).events == 4 * 5000 + 8 * 500);
    for (const std::size_t threads : {2, 8}) {
      Bytes several;
      merge_inputs(inputs, {true, memory, scratch.folder(), {}, threads}, several);
      CHECK((several.all == one.all));
    }
  }
}

TEST_CASE("merge: an input that fails ends those behind it that wait for their turn, and none before it") {
  const std::string much(9 << 20, 'x');  // more than is held before its turn
  Bytes bytes;
  MergedOutput output(bytes, 4);
  output.give_up(2);
  CHECK_THROWS_AS(output.put(3, much), Error);
  bool is_put = false;
  std::thread second([&] {
    output.put(1, much);
    is_put = true;
  });
  output.done(0, {});
  second.join();
  CHECK(is_put);
  CHECK(bytes.all.size() > much.size());
}

TEST_CASE("ordered trace: of several faults the first input's is told, on any number of threads") {
  const Scratch scratch;
  std::vector<TraceInput> inputs;
  for (std::int64_t rank = 0; rank < 8; ++rank) {
    inputs.push_back({scratch.path("rank" + std::to_string(rank)), {}});
    write_rank(inputs.back().path, rank, 20'000 / (rank + 1), 3);
  }
  write_rank(inputs[5].path, 2, 3, 3);
  inputs[3].path = scratch.path("missing");
  inputs[6].path = scratch.path("missing, too");
  for (const std::size_t threads : {1, 2, 8}) {
    for (std::size_t again = 0; again < few(5); ++again) {
      CHECK_THROWS_WITH(order_traces(inputs, {true, kDefaultMemory, scratch.folder(), {}, threads}),
                        contains_text(inputs[3].path + ":"));
    }
  }
  write_rank(inputs[3].path, 3, 3, 3);
  for (const std::size_t threads : {1, 2, 8}) {
    CHECK_THROWS_WITH(order_traces(inputs, {true, kDefaultMemory, scratch.folder(), {}, threads}),
                      contains_text("duplicate rank 2"));
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
