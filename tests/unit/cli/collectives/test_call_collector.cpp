// Collectives of a process among its events: calls and their work, of recordings and of profiles.
#include "cli/collectives/call_collector.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/export/small_trace.h"

using namespace cli;

namespace {

constexpr std::uint64_t kHash = 0xc0ffee;
const char* const kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

NcclFacts nccl(std::uint64_t ordinal, std::uint64_t hash = kHash, trace::NcclClass nccl_class = trace::NcclClass::collective, std::int32_t peer = -1) {
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
    trace.catalog.processes[process].communicators.push_back({.communicator = kHash, .rank = 3, .ranks = 8, .epoch = 1});
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
  void launch(std::int64_t start, std::uint64_t correlation) { trace.add(thread, Kind::runtime, "cudaLaunchKernelExC", start, 5, correlation, CallFacts{}); }
  void kernel(TrackId on, const char* name, std::int64_t start, std::int64_t duration, std::uint64_t correlation, KeptFacts facts = KernelFacts{}) {
    trace.add(on, Kind::kernel, name, start, duration, correlation, std::move(facts));
  }
  CollectiveCalls find() {
    std::stable_sort(trace.events.begin(), trace.events.end(), [](const auto& a, const auto& b) { return a.first.start_ns < b.first.start_ns; });
    const auto collector = make_call_collector(trace.catalog);
    for (const auto& [event, facts] : trace.events) {
      collector->event(event, facts, event.kind == Kind::kernel && !trace.catalog.strings[event.name].starts_with("nccl"));
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
  t.group("ncclGroupStart", 40, 1);
  t.call("ncclAllReduce", 42, 1, nccl(1, 0xa));
  t.call("ncclAllReduce", 44, 1, nccl(2, 0xa));
  t.call("ncclAllReduce", 46, 1, nccl(0, 0xb));
  t.call("ncclAllGather", 48, 1, nccl(0, 0xc));
  t.group("ncclGroupEnd", 50, 20);
  t.launch(52, 2), t.launch(54, 3), t.launch(56, 4);
  t.kernel(t.stream, kAllReduce, 100, 10, 2);
  t.kernel(t.other_stream, kAllReduce, 101, 10, 3);  // 0xb's, which nothing proves
  t.kernel(t.other_stream, "ncclDevKernel_AllGather_RING_LL()", 120, 10, 4);
  const CollectiveCalls calls = t.find();
  const auto& lanes = calls.processes[t.process].lanes;
  REQUIRE(lanes.size() == 3);
  REQUIRE(lanes[0].calls.size() == 3);
  CHECK(lanes[0].calls[0].gpu_start_ns == 20);
  CHECK((lanes[0].calls[1].gpu_start_ns == 100 && lanes[0].calls[2].gpu_start_ns == 100));
  CHECK((lanes[0].calls[0].group == 0 && lanes[0].calls[1].group == 1));
  CHECK(lanes[1].calls.at(0).gpu_start_ns == kNoTime);
  CHECK(lanes[2].calls.at(0).gpu_start_ns == 120);
  CHECK(calls.processes[t.process].works_without_call == 1);
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
    for (const CollectiveCall& call : lane.calls) ordinals.push_back(call.position / lane.ordinal_step), positions.push_back(call.position % lane.ordinal_step);
    CHECK(ordinals == std::vector<std::int64_t>{40, 41, 41, 42});
    CHECK(positions == std::vector<std::int64_t>{0, 0, 1, 0});
  }
}
