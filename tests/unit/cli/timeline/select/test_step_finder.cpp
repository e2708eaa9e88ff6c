#include "cli/timeline/select/step_finder.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/export/small_trace.h"

using namespace cli;

namespace {

Steps take_steps(StepFinder& finder) {
  Steps steps;
  for (const ProcessSteps& process : finder.take()) steps.push_back(process.steps);
  return steps;
}

// Events must be added by start. The steps are the same if the processes come one after the other, and each ends with its events.
Steps find(const SmallTrace& trace) {
  StepFinder finder(trace.catalog), one_by_one(trace.catalog);
  for (const auto& [event, args] : trace.events) finder.event(event, args);
  for (ProcessId id = 0; id < trace.catalog.processes.size(); ++id) {
    for (const auto& [event, args] : trace.events) {
      if (trace.catalog.tracks[event.track].process == id) one_by_one.event(event, args);
    }
    one_by_one.end_of(id);
  }
  const Steps steps = take_steps(finder);
  CHECK(take_steps(one_by_one) == steps);
  return steps;
}

}  // namespace

TEST_CASE("steps: by process, in order; none where none is named") {
  SmallTrace t;
  const ProcessId a = t.process(0), b = t.process(1), c = t.process(2);
  const TrackId on_a = t.thread(a), on_b = t.thread(b), on_c = t.thread(c);
  t.add(on_a, Kind::nvtx, "Train step 1", 10, 5);
  t.add(on_b, Kind::user_annotation, "ProfilerStep#7", 11, 5);
  t.add(on_c, Kind::user_annotation, "forward", 12, 5);
  t.add(on_a, Kind::nvtx, "Train step 2", 15, 5);
  CHECK(find(t) == Steps{{{1, 10, 15}, {2, 15, 20}}, {{7, 11, 16}}, {}});
}

TEST_CASE("steps: only ranges of the host are steps") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId thread = t.thread(p), stream = t.stream(p);
  t.add(stream, Kind::gpu_annotation, "ProfilerStep#1", 10, 5);
  t.add(stream, Kind::kernel, "step 3", 10, 5);
  t.add(thread, Kind::cpu_op, "step 3", 10, 5);
  t.point(thread, Kind::nvtx, 'i', "step 4", 11);
  CHECK(find(t) == Steps{{}});
  t.add(thread, Kind::cpu_op, "ProfilerStep#2", 12, 5);  // older torch.profiler
  CHECK(find(t) == Steps{{{2, 12, 17, 15, 15, 0}}});     // the kernel was launched before
}

TEST_CASE("steps: the first family of names that a process has") {
  SmallTrace t;
  const TrackId thread = t.thread(t.process(0));
  t.add(thread, Kind::nvtx, "step 100", 5, 10);
  t.add(thread, Kind::user_annotation, "ProfilerStep#0", 10, 10);
  CHECK(find(t) == Steps{{{0, 10, 20}}});
}

TEST_CASE("steps: the same step on two threads is one; one inside another is part of it") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId first = t.thread(p, 1), second = t.thread(p, 2);
  t.add(first, Kind::nvtx, "step 3", 10, 10);
  t.add(second, Kind::nvtx, "step 3", 12, 10);
  t.add(first, Kind::nvtx, "step 0", 13, 2);  // a step of something smaller
  t.add(first, Kind::nvtx, "step 4", 21, 10);
  CHECK(find(t) == Steps{{{3, 10, 22}, {4, 21, 31}}});
}

TEST_CASE("steps: a number that comes again is another step") {
  SmallTrace t;
  const TrackId thread = t.thread(t.process(0));
  t.add(thread, Kind::nvtx, "iteration 0", 10, 5);
  t.add(thread, Kind::nvtx, "iteration 0", 20, 5);
  CHECK(find(t) == Steps{{{0, 10, 15}, {0, 20, 25}}});
}

TEST_CASE("steps: a range without an end lasts until the next step, else to the end of its process") {
  SmallTrace t;
  const TrackId thread = t.thread(t.process(0));
  t.add(thread, Kind::nvtx, "step 1", 10, kUnknownDuration);
  t.add(thread, Kind::nvtx, "step 2", 20, kUnknownDuration);
  t.add(thread, Kind::nvtx, "forward", 21, 30);
  CHECK(find(t) == Steps{{{1, 10, 20}, {2, 20, 51}}});
}

TEST_CASE("steps: a process's first and last moment, and how its steps are named") {
  SmallTrace t;
  const ProcessId named = t.process(0), other = t.process(1), empty = t.process(2);
  const TrackId thread = t.thread(named);
  t.point(thread, Kind::flow, 's', "ac2g", 5);
  t.add(thread, Kind::nvtx, "step 1", 10, 7);
  t.add(t.thread(other), Kind::nvtx, "forward", 11, 70);
  StepFinder finder(t.catalog);
  for (const auto& [event, args] : t.events) finder.event(event, args);
  const std::vector<ProcessSteps> found = finder.take();
  CHECK((found[named].first_ns == 10 && found[named].last_ns == 17));
  CHECK_FALSE(found[named].found_by.empty());
  CHECK((found[other].first_ns == 11 && found[other].last_ns == 81 && found[other].found_by.empty()));
  CHECK((found[empty].first_ns == 0 && found[empty].last_ns == 0));
}
