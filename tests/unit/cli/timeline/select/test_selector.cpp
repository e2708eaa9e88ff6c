#include <set>
#include <string>

#include "cli/base/error.h"
#include "cli/timeline/select/selector.h"
#include "cli/timeline/select/step_finder.h"
#include "refusal.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/export/small_trace.h"

using namespace cli;

namespace {

// Two steps of one rank; the second kernel of step 1 runs while the host is in step 2.
struct Trace : SmallTrace {
  ProcessId p = process(0);
  TrackId host = thread(p), gpu = stream(p);
  Trace() {
    add(gpu, Kind::kernel, "before", 5, 2, 99);  // its launch is not in the trace
    add(host, Kind::nvtx, "step 1", 10, 10);
    add(host, Kind::runtime, "launch a", 11, 2, 1);
    add(gpu, Kind::gpu_annotation, "all of step 1", 12, 20);
    add(gpu, Kind::kernel, "a", 13, 4, 1);
    add(host, Kind::runtime, "launch b", 18, 1, 2);
    add(host, Kind::nvtx, "step 2", 20, 10);
    add(host, Kind::runtime, "launch c", 21, 1, 3);
    add(gpu, Kind::kernel, "b", 25, 7, 2);
    add(gpu, Kind::gpu_annotation, "all of step 2", 33, 10);
    add(gpu, Kind::kernel, "c", 34, 9, 3);
  }
};

struct Result {
  std::set<std::string> kept;
  LeftOutCounts counts{};
  std::uint64_t lost_flows = 0;
  TimeWindow window;
};

Result select(const SmallTrace& trace, const Selection& selection) {
  StepFinder finder(trace.catalog);
  for (const auto& [event, args] : trace.events) finder.event(event, args);
  TraceFacts facts;
  for (const ProcessSteps& process : finder.take()) {
    facts.steps.push_back(process.steps);
    if (process.first_ns == 0) continue;
    facts.first_ns = facts.first_ns == 0 ? process.first_ns : std::min(facts.first_ns, process.first_ns);
    facts.last_ns = std::max(facts.last_ns, process.last_ns);
  }
  Selector selector(selection, trace.catalog, facts);
  if (selector.needs_survey()) {
    for (const auto& [event, args] : trace.events) selector.survey(event);
  }
  Result result;
  for (int walk = 0; walk < 2; ++walk) {  // the second says the same
    result = {};
    selector.begin_walk();
    for (const auto& [event, args] : trace.events) {
      const LeftOut why = selector.judge(event);
      ++result.counts[static_cast<std::size_t>(why)];
      if (why == LeftOut::kept) result.kept.insert(std::string(trace.catalog.strings[event.name]));
      if (selector.loses_flow(event, why == LeftOut::kept)) ++result.lost_flows;
    }
  }
  result.window = selector.window(0);
  return result;
}

using ChosenNames = std::set<std::string>;

}  // namespace

TEST_CASE("selection: a step holds what starts in its range, and the GPU work of its launches") {
  const Trace t;
  Selection one;
  one.steps.emplace("--steps", "1");
  const Result first = select(t, one);
  CHECK(first.kept == ChosenNames{"step 1", "launch a", "all of step 1", "a", "launch b", "b"});
  CHECK(first.lost_flows == 0);
  CHECK(first.counts[static_cast<std::size_t>(LeftOut::steps)] == 5);
  CHECK(first.window.from_ns == 10);
  CHECK(first.window.to_ns == 32);  // until its last work ended
  Selection two;
  two.steps.emplace("--steps", "2-");
  CHECK(select(t, two).kept == ChosenNames{"step 2", "launch c", "all of step 2", "c"});
}

TEST_CASE("selection: a range of time holds what runs in it, whole") {
  const Trace t;
  Selection selection;
  selection.time = TimeRange{12, 15};  // since 5: from 17 to 20
  const Result result = select(t, selection);
  CHECK(result.kept == ChosenNames{"step 1", "all of step 1", "launch b"});  // a ended at 17, step 2 begins at 20
  CHECK(result.lost_flows == 1);
  CHECK(result.window.from_ns == 17);
  CHECK(result.window.to_ns == 20);
}

TEST_CASE("selection: kinds and shortest length; arrows with one end are counted") {
  const Trace t;
  Selection kinds;
  kinds.kinds = kinds_option("--kinds", "kernel");
  const Result kernels = select(t, kinds);
  CHECK(kernels.kept == ChosenNames{"before", "a", "b", "c"});
  CHECK(kernels.lost_flows == 3);
  Selection longest;
  longest.min_dur_ns = 9;
  CHECK(select(t, longest).kept == ChosenNames{"step 1", "step 2", "all of step 1", "all of step 2", "c"});
}

TEST_CASE("selection: points, ends of arrows and slices without an end have no length") {
  SmallTrace t;
  const TrackId host = t.thread(t.process(0));
  t.add(host, Kind::nvtx, "open", 1, kUnknownDuration);
  t.point(host, Kind::flow, 's', "ac2g", 2, 1);
  t.point(host, Kind::instant, 'i', "point", 3);
  t.add(host, Kind::nvtx, "short", 4, 3);
  Selection selection;
  selection.min_dur_ns = 10;
  CHECK(select(t, selection).kept == ChosenNames{"open", "ac2g", "point"});
}

TEST_CASE("selection: ranks") {
  SmallTrace t;
  for (const std::int64_t rank : {0, 1, 2})
    t.add(t.thread(t.process(rank)), Kind::nvtx, "r" + std::to_string(rank), 1, 2);
  Selection selection;
  selection.ranks.emplace("--ranks", "0,2-");
  CHECK(select(t, selection).kept == ChosenNames{"r0", "r2"});
}

TEST_CASE("selection: what matches nothing is refused with what there is") {
  const Trace t;
  Selection ranks, steps, time;
  ranks.ranks.emplace("--ranks", "3");
  CHECK(refusal([&] { select(t, ranks); }).find("there is rank 0") != std::string::npos);
  steps.steps.emplace("--steps", "7-9");
  CHECK(refusal([&] { select(t, steps); }).find("there are 1-2") != std::string::npos);
  time.time = TimeRange{39, 50};
  CHECK(refusal([&] { select(t, time); }).find("the trace lasts 38 ns") != std::string::npos);
  SmallTrace unnamed;
  unnamed.add(unnamed.thread(unnamed.process(0)), Kind::nvtx, "forward", 1, 2);
  CHECK(refusal([&] { select(unnamed, steps); }).find("--time") != std::string::npos);
}

TEST_CASE("selector: steps of which something can be kept") {
  const Trace t;
  const TraceFacts facts{{{{1, 10, 20}, {2, 20, 30}, {3, 30, 40}}}, 5, 43};
  Selection all, some, late;
  some.steps.emplace("--steps", "1,3");
  late.time = time_range_option("--time", "20ns-30ns");
  CHECK(Selector(all, t.catalog, facts).chosen(facts.steps) == facts.steps);
  CHECK(Selector(some, t.catalog, facts).chosen(facts.steps) == Steps{{{1, 10, 20}, {3, 30, 40}}});
  CHECK(Selector(late, t.catalog, facts).chosen(facts.steps) == Steps{{{2, 20, 30}, {3, 30, 40}}});
}
