// What is chosen of a merged file is the same whether all of it is read or, by its index, a part.
#include <algorithm>
#include <functional>
#include <random>
#include <string>

#include "cli/formats/ttrace/walk.h"
#include "cli/timeline/select/selector.h"
#include "cli/timeline/select/step_finder.h"
#include "merged_sample.h"
#include "tests/case_step.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/scratch.h"

using namespace cli;
using namespace cli::ttrace;

namespace {

// Ranks whose GPU runs behind the host, by up to some steps (rank 1's: mostly by next to nothing), and now and then before it, as
// clocks have it; rank 3's clock is ahead of its host's by 2,000 launches.
struct Job {
  static constexpr std::int64_t kStart_ns = 1'000'000;
  Catalog catalog;
  std::vector<Collected> events;
  std::mt19937 random;

  explicit Job(std::uint32_t seed) : random(seed) {
    for (std::int64_t rank : {0, 1, 2, 3}) add_rank(rank);
    std::stable_sort(events.begin(), events.end(),
                     [](const Collected& a, const Collected& b) { return key_of(a.event, 0) < key_of(b.event, 0); });
  }
  void add(TrackId track, Kind kind, const std::string& name, std::int64_t start_ns, std::int64_t duration_ns,
           std::uint64_t correlation = 0, char phase = 'X') {
    Collected made;
    made.event.track = track, made.event.kind = kind, made.event.name = catalog.strings.intern(name);
    made.event.start_ns = start_ns, made.event.duration_ns = duration_ns, made.event.correlation = correlation;
    made.event.phase = phase;
    events.push_back(made);
  }
  void add_rank(std::int64_t rank) {
    Process process;
    process.rank = rank, process.explicit_flows = rank == 2;
    const ProcessId id = catalog.add_process(process);
    const TrackId host = catalog.track(id, TrackKind::thread, 1, 1), gpu = catalog.track(id, TrackKind::stream, 0, 7);
    add(host, Kind::python_function, "main", kStart_ns, 400'000);
    std::int64_t free_ns = 0;
    for (std::uint64_t call = 1; call <= 3000; ++call) {
      const std::int64_t at_ns = kStart_ns + static_cast<std::int64_t>(call) * 100;
      if (call % 100 == 1) add(host, Kind::nvtx, "step " + std::to_string(call / 100), at_ns, 9'990);
      add(host, Kind::runtime, "cudaLaunchKernel", at_ns, 60, call);
      add(host, Kind::driver, "cuLaunchKernel", at_ns + 10, 40, call);
      add(host, Kind::cpu_op, "aten::add", at_ns - 5, 80);
      if (rank == 2) add(host, Kind::flow, "ac2g", at_ns, 0, call, 's');
      if (rank != 3 && random() % 10 == 0) continue;  // a call without work
      const std::int64_t early = random() % 50 == 0 ? -static_cast<std::int64_t>(random() % 4'000) : 0;
      const std::int64_t start_ns =
          rank == 3 ? at_ns - 200'000
          : early != 0
              ? at_ns + early
              : std::max(free_ns,
                         at_ns + static_cast<std::int64_t>(random() % (rank == 1 && call % 100 != 0 ? 50 : 60'000)));
      const std::uint64_t correlation =
          rank != 3 && random() % 40 == 0 ? call + 100'000 : call;  // of a call that is not there
      add(gpu, random() % 8 == 0 ? Kind::memcpy : Kind::kernel, "work", start_ns,
          static_cast<std::int64_t>(random() % 300), correlation);
      if (rank == 2) add(gpu, Kind::flow, "ac2g", start_ns, 0, correlation, 'f');
      if (call % 100 == 0)
        add(gpu, Kind::gpu_annotation, "layer", start_ns - static_cast<std::int64_t>(random() % 50'000), 50'000);
      if (random() % 20 == 0) free_ns = start_ns;
    }
  }
};

struct Chosen {
  std::vector<Collected> kept;
  LeftOutCounts counts{};
  std::uint64_t cut_flows = 0;
};

// `walk(sink)` brings the events twice, the same each time, and says what it left out.
template <typename Walk>
Chosen choose(Selector& selector, bool has_steps, Walk&& walk) {
  struct Each : EventSink {
    explicit Each(std::function<void(const Event&, const Facts&)> f) : call(std::move(f)) {}
    void event(const Event& event, const Facts& facts) override { call(event, facts); }
    std::function<void(const Event&, const Facts&)> call;
  };
  Each survey([&](const Event& event, const Facts&) { selector.survey(event); });
  if (selector.needs_survey()) walk(survey);
  Chosen chosen;
  selector.begin_walk();
  Each judge([&](const Event& event, const Facts& facts) {
    const LeftOut why = selector.judge(event);
    ++chosen.counts[static_cast<std::size_t>(why)];
    if (why == LeftOut::kept) chosen.kept.push_back({event, facts});
    chosen.cut_flows += selector.loses_flow(event, why == LeftOut::kept);
  });
  const NotRead not_read = walk(judge);
  chosen.counts[static_cast<std::size_t>(LeftOut::ranks)] += not_read.by_process;
  chosen.counts[static_cast<std::size_t>(has_steps ? LeftOut::steps : LeftOut::time)] += not_read.by_time;
  chosen.counts[static_cast<std::size_t>(LeftOut::kinds)] += not_read.by_kind;
  return chosen;
}

}  // namespace

TEST_CASE("merged file: what is chosen by its index is what is chosen of all") {
  const Scratch scratch;
  const auto seed = GENERATE(1u, 2u, 3u);
  const Job job(seed);
  StepFinder finder(job.catalog);
  for (const Collected& e : job.events) finder.event(e.event, e.facts);
  TraceFacts facts;
  facts.first_ns = job.events.front().event.start_ns;
  for (ProcessSteps& found : finder.take()) {
    facts.steps.push_back(std::move(found.steps));
    facts.last_ns = std::max(facts.last_ns, found.last_ns);
  }
  write_merged(scratch.path("m"), job.catalog, job.events);
  Catalog catalog;
  MergedReader reader(scratch.path("m"));
  reader.read_lists(catalog);

  const auto check = [&](const Selection& selection, const std::string& what) {
    INFO(what << ", seed " << seed);
    Selector of_all(selection, job.catalog, facts), of_file(selection, catalog, facts);
    const bool has_steps = selection.steps.has_value();
    const Chosen all = choose(of_all, has_steps, [&](EventSink& sink) {
      for (const Collected& e : job.events) sink.event(e.event, e.facts);
      return NotRead{};
    });
    std::uint64_t unread = 0;
    const Chosen part = choose(of_file, has_steps, [&](EventSink& sink) {
      const NotRead not_read = reader.read_events(sink, of_file.wanted());
      unread = not_read.by_process + not_read.by_time + not_read.by_kind;
      return not_read;
    });
    CHECK(unread > 0);
    CHECK(all.kept.size() == part.kept.size());
    CHECK((all.kept == part.kept));
    CHECK(all.cut_flows == part.cut_flows);
    // Of what is not read it is known only that its whole chunk is left out for one reason.
    if (!(selection.steps && selection.kinds)) CHECK(all.counts == part.counts);
  };
  for (int step = 0; step < 30; step += static_cast<int>(case_step())) {
    Selection steps, time;
    steps.steps.emplace("--steps", std::to_string(step));
    check(steps, "step " + std::to_string(step));
    steps.ranks.emplace("--ranks", "2");
    check(steps, "step of a rank " + std::to_string(step));
    steps.kinds = kinds_option("--kinds", "gpu_annotation");
    check(steps, "step of a rank and kind " + std::to_string(step));
    time.time = TimeRange{step * 10'000, step * 10'000 + 500 + step * 100};
    check(time, "time " + std::to_string(step));
  }
  Selection ranks, kinds;
  ranks.ranks.emplace("--ranks", "0,2");
  check(ranks, "ranks");
  kinds.kinds = kinds_option("--kinds", "memcpy");
  check(kinds, "kinds");
}

TEST_CASE("merged file: walks that each give some of the processes give together what one gives") {
  const Scratch scratch;
  const Job job(1);
  write_merged(scratch.path("m"), job.catalog, job.events);
  Catalog catalog;
  MergedReader reader(scratch.path("m"));
  reader.read_lists(catalog);
  Wanted wanted;
  wanted.processes = {true, true, false, true};
  Collect all;
  const NotRead not_read = reader.read_events(all, wanted);
  REQUIRE(not_read.by_process > 0);
  std::size_t events = 0;
  for (ProcessId id = 0; id < catalog.processes.size(); ++id) {
    wanted.now.assign(catalog.processes.size(), false);
    wanted.now[id] = true;
    Collect some;
    CHECK(reader.read_events(some, wanted).by_process == not_read.by_process);
    std::vector<Collected> expected;
    std::copy_if(all.all.begin(), all.all.end(), std::back_inserter(expected),
                 [&](const Collected& e) { return catalog.tracks[e.event.track].process == id; });
    CHECK((some.all == expected));
    events += some.all.size();
  }
  CHECK(events == all.all.size());
}
