// Collectives of a process among its events: calls and their work, of recordings and of profiles.
#include "cli/timeline/collectives/call_collector.h"
#include "cli/timeline/collectives/match.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/export/small_trace.h"

using namespace cli;

namespace {

constexpr std::uint64_t kHash = 0xc0ffee;
const char* const kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

NcclFacts nccl(std::uint64_t ordinal, std::uint64_t hash = kHash,
               trace::NcclClass nccl_class = trace::NcclClass::collective, std::int32_t peer = -1) {
  NcclFacts facts;
  Collective& c = facts.collective;
  c.communicator = hash, c.ordinal = ordinal, c.epoch = 1, c.nccl_class = static_cast<std::uint8_t>(nccl_class);
  c.has = Collective::kCommunicator | Collective::kBytes;
  if (peer >= 0) c.peer = peer, c.has |= Collective::kPeer;
  return facts;
}

class Calls {
 public:
  SmallTrace trace;
  ProcessId process;
  TrackId thread, stream, other_stream;

  explicit Calls(SourceFormat format = SourceFormat::ring) : process(trace.process(0)) {
    trace.catalog.processes[process].format = format;
    trace.catalog.processes[process].communicators.push_back(
        {.communicator = kHash, .rank = 3, .ranks = 8, .epoch = 1});
    thread = trace.thread(process), stream = trace.stream(process, 7), other_stream = trace.stream(process, 9);
  }
  void call(const char* name, std::int64_t start, std::int64_t duration, const NcclFacts& facts) {
    Event& event = trace.add(thread, Kind::nccl, name, start, duration, 0, facts);
    event.bytes = 4096, event.has_bytes = true;
  }
  void group(const char* name, std::int64_t start, std::int64_t duration) {
    RangeFacts facts;
    facts.has_domain = true, facts.domain = trace.catalog.strings.intern("NCCL");
    trace.add(thread, Kind::nvtx, name, start, duration, 0, facts);
  }
  void launch(std::int64_t start, std::uint64_t correlation) {
    trace.add(thread, Kind::runtime, "cudaLaunchKernelExC", start, 5, correlation, CallFacts{});
  }
  void kernel(TrackId on, const char* name, std::int64_t start, std::int64_t duration, std::uint64_t correlation,
              KeptFacts facts = KernelFacts{}) {
    trace.add(on, Kind::kernel, name, start, duration, correlation, std::move(facts));
  }
  CollectiveCalls find() {
    std::stable_sort(trace.events.begin(), trace.events.end(),
                     [](const auto& a, const auto& b) { return a.first.start_ns < b.first.start_ns; });
    const auto collector = make_call_collector(trace.catalog);
    for (const auto& [event, facts] : trace.events) {
      collector->event(event, facts,
                       event.kind == Kind::kernel && !trace.catalog.strings[event.name].starts_with("nccl"));
    }
    return collector->take();
  }
  const CollectiveLane& only_lane(const CollectiveCalls& calls) {
    REQUIRE(calls.processes.at(process).lanes.size() == 1);
    return calls.processes[process].lanes[0];
  }
};

}  // namespace

TEST_CASE("calls: a call, its work, and what of it no compute hides") {
  Calls t;
  t.call("ncclAllReduce", 100, 50, nccl(17));
  t.launch(110, 1);
  t.kernel(t.other_stream, "gemm", 150, 100, 2);  // until 250
  t.kernel(t.stream, kAllReduce, 200, 300, 1);    // until 500
  t.kernel(t.other_stream, "gemm", 230, 60, 3);   // until 290
  t.kernel(t.other_stream, "gemm", 400, 500, 4);
  const CollectiveCalls calls = t.find();
  const CollectiveLane& lane = t.only_lane(calls);
  CHECK(lane.numbering == Numbering::numbered);
  CHECK(calls.communicators.at(lane.communicator).label == "0x0000000000c0ffee");
  CHECK(calls.communicators.at(lane.communicator).size == 8);
  REQUIRE(lane.calls.size() == 1);
  const CollectiveCall& call = lane.calls[0];
  CHECK(call.position == 17);
  CHECK((call.host_start_ns == 100 && call.host_end_ns == 150));
  CHECK((call.gpu_start_ns == 200 && call.gpu_end_ns == 500));
  CHECK(call.exposed_ns == 300 - 90 - 100);
  CHECK(calls.whats[call.what].operation == Operation::all_reduce);
  CHECK(calls.whats[call.what].message_bytes == 4096);
}

TEST_CASE("calls: of a group of several communicators each kernel goes to those that it can be of") {
  Calls t;
  t.call("ncclAllReduce", 10, 5, nccl(0, 0xa));
  t.launch(12, 1);
  t.kernel(t.stream, kAllReduce, 20, 10, 1);  // now it is known where 0xa works
  const auto group = [&](std::int64_t at, std::uint64_t ordinal, std::uint64_t correlation) {
    t.group("ncclGroupStart", at, 1);
    t.call("ncclAllReduce", at + 2, 1, nccl(2 * ordinal - 1, 0xa));
    t.call("ncclAllReduce", at + 4, 1, nccl(2 * ordinal, 0xa));
    t.call("ncclAllReduce", at + 6, 1, nccl(ordinal, 0xb));
    t.call("ncclAllGather", at + 8, 1, nccl(ordinal, 0xc));
    t.group("ncclGroupEnd", at + 10, 20);
    t.launch(at + 12, correlation), t.launch(at + 14, correlation + 1), t.launch(at + 16, correlation + 2);
    t.kernel(t.stream, kAllReduce, at + 60, 10,
             correlation);  // 0xa's, or 0xb's: the first time, nothing tells where that works
    t.kernel(t.other_stream, kAllReduce, at + 61, 10, correlation + 1);  // not 0xa's
    t.kernel(t.other_stream, "ncclDevKernel_AllGather_RING_LL()", at + 80, 10, correlation + 2);
  };
  group(40, 1, 2);
  t.call("ncclAllReduce", 200, 5, nccl(2, 0xb));
  t.launch(202, 5);
  t.kernel(t.other_stream, kAllReduce, 210, 10, 5);
  group(240, 3, 6);
  const CollectiveCalls calls = t.find();
  const auto& lanes = calls.processes[t.process].lanes;
  REQUIRE(lanes.size() == 3);
  const auto starts = [&](std::size_t lane) {
    std::vector<std::int64_t> all;
    for (const CollectiveCall& call : lanes[lane].calls) all.push_back(call.gpu_start_ns);
    return all;
  };
  CHECK(starts(0) == std::vector<std::int64_t>{20, kNoTime, kNoTime, 300, 300});
  CHECK(starts(1) == std::vector<std::int64_t>{101, 210, 301});
  CHECK(starts(2) == std::vector<std::int64_t>{120, 320});
  CHECK((lanes[0].calls[0].group == 0 && lanes[0].calls[1].group == 1 && lanes[0].calls[3].group == 2));
  CHECK(calls.processes[t.process].works_without_call == 1);
}

TEST_CASE("calls: of communicators on one stream, kernels of a group are of neither that is known") {
  Calls t;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto at = static_cast<std::int64_t>(100 * i);
    t.call("ncclAllReduce", at + 2, 4, nccl(2 * i, 0xa));
    t.launch(at + 3, 10 * i + 1);
    t.kernel(t.stream, kAllReduce, at + 10, 5, 10 * i + 1);
    t.group("ncclGroupStart", at + 20, 1);
    t.call("ncclAllReduce", at + 22, 1, nccl(i, 0xb));
    t.call("ncclAllReduce", at + 24, 1, nccl(2 * i + 1, 0xa));
    t.group("ncclGroupEnd", at + 30, 10);
    t.launch(at + 32, 10 * i + 2), t.launch(at + 34, 10 * i + 3);
    t.kernel(t.stream, kAllReduce, at + 50, 5, 10 * i + 2), t.kernel(t.stream, kAllReduce, at + 60, 5, 10 * i + 3);
  }
  const CollectiveCalls calls = t.find();
  const auto& lanes = calls.processes[t.process].lanes;
  REQUIRE(lanes.size() == 2);
  for (const CollectiveCall& call : lanes[0].calls) CHECK((call.gpu_start_ns == kNoTime) == (call.position % 2 == 1));
  for (const CollectiveCall& call : lanes[1].calls) CHECK(call.gpu_start_ns == kNoTime);
  CHECK(calls.processes[t.process].works_without_call == 6);
}

TEST_CASE("calls: what the host did while the GPU waited for a launch, runs of the garbage collector among it") {
  Calls t;
  t.launch(100, 1), t.kernel(t.stream, "compute", 110, 90, 1);
  t.launch(500, 2), t.kernel(t.stream, "compute", 510, 90, 2);  // nothing ran from 200 on
  const TrackId other = t.trace.thread(t.process, 12);
  t.trace.add(t.thread, Kind::garbage_collection, "gc", 150, 100, 0,
              GarbageCollectionFacts{});  // 50 of it while the GPU waited
  t.trace.add(other, Kind::garbage_collection, "gc", 260, 30, 0, GarbageCollectionFacts{});
  t.trace.add(t.thread, Kind::garbage_collection, "gc", 490, 100, 0, GarbageCollectionFacts{});  // 10 of it
  t.trace.add(t.thread, Kind::garbage_collection, "gc", 520, 30, 0, GarbageCollectionFacts{});
  const CollectiveCalls calls = t.find();
  const HostDelay& delay = calls.processes.at(t.process).host_delay;
  CHECK(delay.outside_ns == 300);
  CHECK(delay.collecting_ns == 90);
}

TEST_CASE("calls: what may have been lost between two launches is no time that the GPU waited for its host") {
  const auto late_ns = [](std::uint64_t lost, std::uint64_t correlation) {
    Calls t;
    t.trace.catalog.processes[t.process].lost[static_cast<std::size_t>(Kind::runtime)] = lost;
    t.launch(100, 1), t.launch(105, 2);
    t.kernel(t.stream, "gemm", 110, 5, 1), t.kernel(t.stream, "gemm", 115, 5, 2);
    t.launch(900, correlation);
    t.kernel(t.stream, "gemm", 1000, 10, correlation);
    t.call("ncclAllReduce", 1020, 20, nccl(0));
    t.launch(1030, correlation + 1);
    t.kernel(t.stream, kAllReduce, 1040, 10, correlation + 1);
    const CollectiveCalls calls = t.find();
    return t.only_lane(calls).calls.at(0).before.late_launch_ns;
  };
  CHECK(late_ns(0, 3) == 780 + 20);
  CHECK(late_ns(0, 4) == 780 + 20);  // nobody asked for what is missing
  CHECK(late_ns(1, 3) == 780 + 20);
  CHECK(late_ns(1, 4) == 20);
}

TEST_CASE("calls: of a group whose kernels are of several communicators it is known when all have ended") {
  Calls t;
  Process& process = t.trace.catalog.processes[t.process];
  process.state = RecordingState::recovered;
  process.counts[static_cast<std::size_t>(Kind::kernel)] = 6;
  const auto group = [&](std::int64_t at, std::uint64_t i, std::int64_t last_duration) {
    t.group("ncclGroupStart", at, 1);
    t.call("ncclAllReduce", at + 2, 1, nccl(i, 0xa));
    t.call("ncclAllReduce", at + 4, 1, nccl(i, 0xb));
    t.group("ncclGroupEnd", at + 10, 10);
    t.launch(at + 12, 10 * i + 1), t.launch(at + 14, 10 * i + 2);
    t.trace.add(t.thread, Kind::driver, "cuLaunchKernelEx", at + 14, 2, 10 * i + 2,
                CallFacts{});  // within the runtime's
    t.kernel(t.stream, kAllReduce, at + 50, 5, 10 * i + 1),
        t.kernel(t.stream, kAllReduce, at + 60, last_duration, 10 * i + 2);
  };
  group(0, 0, 5), group(100, 1, 5);
  const auto open = [&] {
    const CollectiveCalls calls = t.find();
    const MatchedCollectives matched = match_collectives(calls, t.trace.catalog);
    std::vector<std::pair<std::string, std::int64_t>> found;
    for (const MatchedCollective& each : matched.collectives) {
      if (each.state == CollectiveState::open)
        found.emplace_back(calls.communicators[matched.groups[each.group].communicator].label, each.ordinal);
    }
    CHECK(matched.notes.size() ==
          1 + found.size());  // "had not ended" of each, and of which kernels it is not known whose they are
    return found;
  };
  const std::string a = "0x000000000000000a", b = "0x000000000000000b";
  using Found = std::vector<std::pair<std::string, std::int64_t>>;
  CHECK(open() == Found{});
  SECTION("or that one has not") {
    group(200, 2, -1);
    CHECK(open() == Found{{a, 2}, {b, 2}});
  }
  SECTION("or that a kernel of it never began") {
    group(200, 2, 5);
    std::erase_if(t.trace.events,
                  [](const auto& each) { return each.first.kind == Kind::kernel && each.first.correlation == 22; });
    CHECK(open() == Found{{a, 2}, {b, 2}});
  }
  SECTION("or a call of which nothing was launched any more") {
    t.call("ncclAllReduce", 200, 1, nccl(2, 0xb));
    CHECK(open() == Found{{b, 2}});
  }
  SECTION("where no kernel was recorded, nothing hangs") {
    std::erase_if(t.trace.events, [](const auto& each) { return each.first.kind == Kind::kernel; });
    process.counts = {};
    const CollectiveCalls calls = t.find();
    const MatchedCollectives matched = match_collectives(calls, t.trace.catalog);
    for (const MatchedCollective& each : matched.collectives) CHECK(each.state != CollectiveState::open);
    CHECK(matched.notes.empty());
  }
}

TEST_CASE("calls: of a group whose start or end was lost, the calls after it are not") {
  Calls t;
  std::uint64_t ordinal = 0, correlation = 0;
  std::vector<std::int64_t> begins;  // of the work of each call, which is its group's
  const auto single = [&](std::int64_t at) {
    t.call("ncclAllReduce", at, 5, nccl(ordinal++));
    t.launch(at + 2, ++correlation), t.kernel(t.stream, kAllReduce, at + 10, 5, correlation);
    begins.push_back(at + 10);
  };
  const auto group = [&](std::int64_t at, bool is_nested = false) {
    t.group("ncclGroupStart", at, 1);
    t.call("ncclAllReduce", at + 2, 1, nccl(ordinal++));
    if (is_nested) t.group("ncclGroupStart", at + 3, 1);
    t.call("ncclAllReduce", at + 4, 1, nccl(ordinal++));
    if (is_nested) t.group("ncclGroupEnd", at + 6, 2);
    t.group("ncclGroupEnd", at + 10, 10);
    t.launch(at + 12, ++correlation), t.kernel(t.stream, kAllReduce, at + 30, 5, correlation);
    begins.insert(begins.end(), 2, at + 30);
  };
  const auto lose = [&](const char* name, std::int64_t at, bool its_end_only = false) {
    const auto found = std::find_if(t.trace.events.begin(), t.trace.events.end(), [&](const auto& each) {
      return each.first.start_ns == at && t.trace.catalog.strings[each.first.name] == name;
    });
    REQUIRE(found != t.trace.events.end());
    if (!its_end_only) return void(t.trace.events.erase(found));
    found->first.duration_ns = kUnknownDuration;
  };
  // What each call has, and which are of one group; but the first two, of the group that lost something.
  const auto check = [&] {
    const CollectiveCalls calls = t.find();
    const CollectiveLane& lane = t.only_lane(calls);
    REQUIRE(lane.calls.size() == begins.size());
    for (std::size_t i = 2; i < begins.size(); ++i) {
      CAPTURE(i);
      CHECK(lane.calls[i].gpu_start_ns == begins[i]);
      const bool is_grouped = begins[i] == begins[i - 1] || (i + 1 < begins.size() && begins[i] == begins[i + 1]);
      CHECK((lane.calls[i].group != 0) == is_grouped);
      CHECK((lane.calls[i].group == lane.calls[i - 1].group) ==
            (begins[i] == begins[i - 1] || (!is_grouped && lane.calls[i - 1].group == 0)));
      CHECK(lane.calls[i].group_has_ended == is_grouped);
    }
    return lane.calls[0].gpu_start_ns;
  };
  group(0);
  const int after = GENERATE(0, 1, 2);
  CAPTURE(after);
  if (after == 0) single(100), group(200), single(300), group(400, true), single(500);
  if (after == 1) group(100), single(200), group(300), group(400);
  if (after == 2) group(100, true), group(200, true), single(300);
  SECTION("nothing is lost") { CHECK(check() == 30); }
  SECTION("its end") {
    lose("ncclGroupEnd", 10);
    CHECK(check() == kNoTime);
  }
  SECTION("its start") {
    lose("ncclGroupStart", 0);
    CHECK(check() == kNoTime);
  }
  SECTION("the end of its start") {
    lose("ncclGroupStart", 0, true);
    CHECK(check() == 30);
  }
  SECTION("the end of its end") {
    lose("ncclGroupEnd", 10, true);
    CHECK(check() == 30);
  }
}

TEST_CASE("calls: a copy within a call of a group does not end it") {
  Calls t;
  t.group("ncclGroupStart", 0, 1);
  t.call("ncclAllReduce", 2, 4, nccl(0, 0xa));  // of one rank
  t.trace.add(t.thread, Kind::runtime, "cudaMemcpyAsync", 3, 1, 1, CallFacts{});
  t.call("ncclAllReduce", 8, 1, nccl(0));
  t.group("ncclGroupEnd", 10, 10);
  t.launch(12, 2), t.kernel(t.stream, kAllReduce, 30, 5, 2);
  const CollectiveCalls calls = t.find();
  for (const CollectiveLane& lane : calls.processes[t.process].lanes) CHECK(lane.calls.at(0).group == 1);
}

TEST_CASE("calls: sends and receives are those of a pair of ranks") {
  Calls t;
  t.call("ncclSend", 10, 1, nccl(0, kHash, trace::NcclClass::send, 5));
  t.call("ncclRecv", 12, 1, nccl(0, kHash, trace::NcclClass::receive, 1));
  t.call("ncclSend", 14, 1, nccl(0, 0xa, trace::NcclClass::send, 5));  // its own rank is not known
  const CollectiveCalls calls = t.find();
  const auto& lanes = calls.processes[t.process].lanes;
  REQUIRE(lanes.size() == 3);
  CHECK((lanes[0].source == 1 && lanes[0].destination == 3 && lanes[0].point_to_point));
  CHECK((lanes[1].source == 3 && lanes[1].destination == 5));
  CHECK(lanes[2].source == -1);
}

TEST_CASE("calls: replays of a graph are counted, and the captured call is none") {
  Calls t;
  Capture capture;
  capture.known = capture.in_call = capture.has_call = true;
  capture.call = t.trace.catalog.strings.intern("ncclAllReduce");
  capture.collective = nccl(4).collective, capture.bytes = 4096;
  KernelFacts facts;
  facts.graph = {77, 1, t.trace.catalog.captures.intern(capture)};
  t.call("ncclAllReduce", 10, 5, nccl(4));
  t.kernel(t.stream, kAllReduce, 100, 10, 1, facts);
  t.kernel(t.stream, kAllReduce, 200, 10, 2, facts);
  const CollectiveCalls calls = t.find();
  const CollectiveLane& lane = t.only_lane(calls);
  CHECK((lane.replay && lane.whole_beginning && lane.numbering == Numbering::counted));
  REQUIRE(lane.calls.size() == 2);
  CHECK((lane.calls[0].position == 0 && lane.calls[1].position == 1));
  CHECK(calls.whats[lane.calls[0].what].message_bytes == 4096);
}

TEST_CASE("calls: of a profile, kernels from before it are of the group that their stream works for") {
  Calls t(SourceFormat::kineto);
  auto& catalog = t.trace.catalog;
  CollectiveOp op;
  op.name = catalog.strings.intern("allreduce"), op.group_name = catalog.strings.intern("0");
  op.group_description = catalog.strings.intern("default_pg"), op.data_type = catalog.strings.intern("BFloat16");
  op.in_elements = op.out_elements = 1000, op.group_size = 8;
  ProfiledKernelFacts facts;
  facts.collective_op = catalog.collective_ops.intern(op);
  SECTION("without a number they are counted") {
    t.kernel(t.stream, kAllReduce, 10, 5, 1, ProfiledKernelFacts{});
    t.kernel(t.stream, kAllReduce, 20, 5, 2, facts);
    const CollectiveCalls calls = t.find();
    const CollectiveLane& lane = t.only_lane(calls);
    CHECK(calls.communicators.at(lane.communicator).label == "0");
    CHECK(calls.communicators.at(lane.communicator).description == "default_pg");
    CHECK((lane.numbering == Numbering::counted && !lane.whole_beginning));
    REQUIRE(lane.calls.size() == 2);
    CHECK(calls.whats[lane.calls[0].what].buffer_bytes == -1);
    CHECK(calls.whats[lane.calls[1].what].buffer_bytes == 2000);
    CHECK(can_be_same(calls.whats[lane.calls[0].what], calls.whats[lane.calls[1].what]));
  }
  SECTION("with one, they have those before it; and those with one number are told apart") {
    t.kernel(t.stream, kAllReduce, 10, 5, 1, ProfiledKernelFacts{});
    facts.sequence = 41;
    t.kernel(t.stream, kAllReduce, 20, 5, 2, facts);
    t.kernel(t.stream, kAllReduce, 30, 5, 3, facts);
    facts.sequence = 42;
    t.kernel(t.stream, kAllReduce, 40, 5, 4, facts);
    const CollectiveCalls calls = t.find();
    const CollectiveLane& lane = t.only_lane(calls);
    CHECK(lane.numbering == Numbering::numbered);
    std::vector<std::int64_t> ordinals, positions;
    for (const CollectiveCall& call : lane.calls)
      ordinals.push_back(call.position / lane.ordinal_step), positions.push_back(call.position % lane.ordinal_step);
    CHECK(ordinals == std::vector<std::int64_t>{40, 41, 41, 42});
    CHECK(positions == std::vector<std::int64_t>{0, 0, 1, 0});
  }
}

TEST_CASE("calls: of a profile, sends and receives of a group of two are numbered, those of larger ones are not") {
  Calls t(SourceFormat::kineto);
  auto& catalog = t.trace.catalog;
  const auto add = [&](std::int64_t at, const char* name, const char* ranks, std::int64_t size, std::int64_t source,
                       std::int64_t destination) {
    CollectiveOp op;
    op.name = catalog.strings.intern(name), op.group_name = catalog.strings.intern(ranks),
    op.group_ranks = catalog.strings.intern(ranks);
    op.group_size = size, op.source_rank = source, op.destination_rank = destination;
    ProfiledKernelFacts facts;
    facts.collective_op = catalog.collective_ops.intern(op), facts.sequence = static_cast<std::uint64_t>(at);
    t.kernel(t.stream, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", at, 5,
             static_cast<std::uint64_t>(at), facts);
  };
  const auto expect = [&](std::int64_t rank, std::int32_t source, std::int32_t destination, Numbering numbering) {
    catalog.processes[t.process].rank = rank;
    const CollectiveCalls calls = t.find();
    const CollectiveLane& lane = t.only_lane(calls);
    CHECK((lane.point_to_point && lane.source == source && lane.destination == destination &&
           lane.numbering == numbering));
  };
  SECTION("by the rank's place in the group") {
    add(10, "send", "[4, 6]", 2, -1, 0);
    expect(6, 1, 0, Numbering::numbered);
  }
  SECTION("which tells the other one, too") {
    add(10, "recv", "[4, 6]", 2, -1, -1);
    expect(4, 1, 0, Numbering::numbered);
  }
  SECTION("by the other one, where the ranks are not told") {
    add(10, "recv", "pipe", 2, 1, -1);
    expect(4, 1, 0, Numbering::numbered);
  }
  SECTION("of a larger group") {
    add(10, "recv", "[0, 2, 4, 6]", 4, 1, -1);
    expect(4, 1, 2, Numbering::counted);
  }
  SECTION("of a list whose end is missing, what may be part of a number is none") {
    add(10, "send", "[0, 2, 4", 4, -1, 1);
    expect(4, -1, -1, Numbering::counted);
  }
}
