#include "cli/formats/export/flows.h"
#include "small_trace.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

Event flow(char phase, TrackId track, StringId name, StringId category, std::int64_t ns, std::uint64_t id) {
  Event event;
  event.kind = Kind::flow, event.phase = phase, event.track = track, event.start_ns = ns;
  event.name = name, event.category = category, event.correlation = id;
  return event;
}

// Both passes over slices of 10 ns and flow events of one instant; the flow at each flow event, starts first.
std::vector<std::uint64_t> flows(FlowPlan& plan, const std::vector<Event>& slices, const std::vector<Event>& flows) {
  for (const Event& event : slices) plan.prepare(event);
  for (const Event& event : flows) plan.prepare(event);
  plan.end_prepare();
  for (const Event& event : slices) plan.reach(event);
  for (const Event& event : flows) plan.hold(event);
  std::vector<std::uint64_t> found;
  plan.release([&](const Event& event, TrackId track) {
    if (track == FlowPlan::kNoTrack || plan.refused(event, track)) return found.push_back(0);
    found.push_back(event.phase == 's' ? plan.start(event) : plan.end(event).flow_id);
  });
  return found;
}

Event slice_on(TrackId track) {
  Event event;
  event.kind = Kind::cpu_op, event.phase = 'X', event.track = track, event.start_ns = 100, event.duration_ns = 10;
  return event;
}

}  // namespace

TEST_CASE("arrow plan: one name in two categories is two spaces of ids") {
  SmallTrace t;
  const TrackId thread = t.thread(t.process(0, true));
  const StringId name = t.catalog.strings.intern("flow"), a = t.catalog.strings.intern("a"),
                 b = t.catalog.strings.intern("b");
  FlowPlan plan(t.catalog);
  const auto found = flows(plan, {slice_on(thread)},
                           {flow('f', thread, name, a, 100, 5), flow('f', thread, name, b, 100, 5),
                            flow('s', thread, name, a, 100, 5), flow('s', thread, name, b, 100, 5)});
  REQUIRE(found.size() == 4);  // the starts, then the ends
  CHECK(found[0] != found[1]);
  CHECK(found[2] == found[0]);
  CHECK(found[3] == found[1]);
}

TEST_CASE("arrow plan: an end that is refused has no arrow, and nor has its start") {
  SmallTrace t;
  const ProcessId p = t.process(0, true), other = t.process(1);
  const TrackId thread = t.thread(p);
  const StringId name = t.catalog.strings.intern("flow");
  FlowPlan plan(t.catalog);
  plan.refuse_unless([](const Event& event, TrackId) { return event.phase == 's'; });
  const auto found =
      flows(plan, {slice_on(thread)}, {flow('s', thread, name, 0, 100, 5), flow('f', thread, name, 0, 100, 5)});
  CHECK(found == std::vector<std::uint64_t>{0, 0});
  CHECK(plan.has_flows(p));
  CHECK(!plan.has_flows(other));
}

TEST_CASE("arrow plan: from the call that recorded an event to each wait for it, and none where that is unknown") {
  SmallTrace t;
  const TrackId thread = t.thread(t.process(0));
  Event call;
  call.kind = Kind::runtime, call.track = thread, call.start_ns = 50, call.duration_ns = 10, call.correlation = 5;
  Event wait = slice_on(thread);
  wait.kind = Kind::sync, wait.correlation = 6;
  const SyncFacts known = wait_for_event(5);
  FlowPlan plan(t.catalog);
  plan.prepare(call);
  plan.prepare(wait, known);
  plan.prepare(wait, known);
  plan.end_prepare();
  const std::uint64_t flow_id = plan.start(call);
  CHECK(flow_id != 0);
  CHECK(plan.ends(flow_id) == 2);
  CHECK(plan.call_of_flow_end(wait, known) == 5);
  CHECK(plan.end(wait, 5).flow_id == flow_id);
  CHECK(plan.call_of_flow_end(wait, wait_for_event()) == 0);
  CHECK(plan.call_of_flow_end(wait, "") == 0);
  CHECK(plan.call_of_flow_end(call, known) == 0);
}
