// What NCCL kernels of a recording say of their call in a Kineto profile. What PyTorch says: appendCollectiveArgs in
// libkineto's output_json.cpp; the names of NCCL's kernels: src/device/generate.py in github.com/NVIDIA/nccl.
#include "cli/formats/kineto/exporter.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/export/small_trace.h"

using namespace cli;
using namespace cli::kineto;

namespace {

constexpr std::uint64_t kCommunicator = 0xc0ffee, kSplit = 0xbeef;
const std::string kAllGather = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

NcclFacts on(std::uint64_t communicator) {
  NcclFacts facts;
  facts.collective.communicator = communicator, facts.collective.epoch = 1;
  facts.collective.has = Collective::kCommunicator;
  return facts;
}
NcclFacts typed(std::uint32_t type, std::uint64_t count, std::uint64_t communicator = kCommunicator) {
  NcclFacts facts = on(communicator);
  facts.collective.has |= Collective::kTypeAndCount;
  facts.collective.data_type = type, facts.collective.count = count;
  return facts;
}
const NcclFacts kInWorld = on(kCommunicator), kInSplit = on(kSplit);
const NcclFacts kBf16 = typed(9, 1000);
const std::string kGroup = ", \"Process Group Name\": \"0x0000000000c0ffee\"";

// A rank of a job of 8, with a thread that calls NCCL and a stream for its kernels.
struct Rank {
  SmallTrace t;
  ProcessId process = t.process(0);
  TrackId thread = t.thread(process), stream = t.stream(process, 20);

  Rank() { communicator(process, kCommunicator, 0, 8); }
  void communicator(ProcessId p, std::uint64_t hash, std::uint64_t parent, std::int64_t ranks) {
    Communicator c;
    c.communicator = hash, c.parent = parent, c.ranks = ranks;
    t.catalog.processes[p].communicators.push_back(c);
  }
  Event& call(std::string_view name, const NcclFacts& facts, std::int64_t at = 0) {
    return t.add(thread, Kind::nccl, name, kOrigin + at, 100, 0, facts);
  }
  void payload(std::string_view name, std::uint64_t bytes, std::int64_t at = 0, const NcclFacts& facts = kInWorld) {
    Event& event = call(name, facts, at);
    event.bytes = bytes, event.has_bytes = true;
  }
  void group(std::string_view name, std::int64_t at) {
    RangeFacts facts;
    facts.has_domain = true, facts.domain = t.catalog.strings.intern("NCCL");
    t.add(thread, Kind::nvtx, name, kOrigin + at, 100, 0, facts);
  }
  void launch(std::int64_t at, TrackId by) {
    t.add(by, Kind::runtime, "cudaLaunchKernelExC", kOrigin + at, 20, 5, CallFacts{430, 0});
    t.add(by, Kind::driver, "cuLaunchKernelEx", kOrigin + at + 1, 18, 5, CallFacts{652, 0});
  }
  // A kernel of a graph, captured in a call of 2000 bytes.
  KernelFacts captured(bool first_of_group) {
    Capture capture;
    capture.known = capture.in_call = capture.has_call = true, capture.first_of_group = first_of_group;
    capture.call = t.catalog.strings.intern("ncclAllReduce"), capture.bytes = 2000;
    capture.collective = kInWorld.collective;
    capture.collective.has |= Collective::kBytes;
    KernelFacts facts;
    facts.graph = {300, 5, t.catalog.captures.intern(capture)};
    return facts;
  }
  // What the kernel says.
  std::string kernel(std::string_view name = kAllGather, const KernelFacts& facts = {}) {
    t.add(stream, Kind::kernel, name, kOrigin + 10'000, 1000, 5, facts);
    const std::string text = t.write(make_exporter());
    const std::size_t at = text.find("\"Collective name\"");
    return at == text.npos ? "" : text.substr(at, text.find('}', at) - at);
  }
};

std::string called(std::string_view name, const NcclFacts& facts, std::int64_t launch_ns = 10) {
  Rank r;
  r.call(name, facts);
  r.launch(launch_ns, r.thread);
  return r.kernel("ncclDevKernel_" + std::string(name.substr(4)) + "_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
}

std::string moved(std::string_view name, std::uint64_t bytes, std::string_view kernel) {
  Rank r;
  r.payload(name, bytes);
  r.launch(10, r.thread);
  return r.kernel(kernel);
}

std::string said(std::string_view name, int in, int out, std::string_view type) {
  return "\"Collective name\": \"" + std::string(name) + "\", \"In msg nelems\": " + std::to_string(in) +
         ", \"Out msg nelems\": " + std::to_string(out) + ", \"Group size\": 8, \"dtype\": \"" + std::string(type) +
         '"' + kGroup;
}

}  // namespace

TEST_CASE("kineto: an NCCL kernel has the arguments of its call") {
  CHECK(called("ncclAllGather", kBf16) == said("_allgather_base", 1000, 8000, "BFloat16"));
  CHECK(called("ncclReduceScatter", kBf16) == said("_reduce_scatter_base", 8000, 1000, "BFloat16"));
  CHECK(called("ncclAllReduce", kBf16) == said("allreduce", 1000, 1000, "BFloat16"));
}

TEST_CASE("kineto: of a call that told its bytes, the kernel's name tells the type, else elements are bytes") {
  CHECK(moved("ncclAllReduce", 4000, "ncclDevKernel_AllReduce_Sum_f32_TREE_LL(...)") ==
        said("allreduce", 1000, 1000, "Float"));
  CHECK(moved("ncclReduceScatter", 4000, "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(...)") ==
        said("_reduce_scatter_base", 16000, 2000, "BFloat16"));
  CHECK(moved("ncclAllReduce", 4000, "ncclDevKernel_AllReduce_Sum_u32_RING_LL(...)") ==  // signed or not
        said("allreduce", 4000, 4000, "Byte"));
  CHECK(moved("ncclAllReduce", 4001, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)") ==
        said("allreduce", 4001, 4001, "Byte"));
  CHECK(moved("ncclAllReduce", 4000, "ncclDevKernel_Generic(...)") == said("allreduce", 4000, 4000, "Byte"));
  CHECK(moved("ncclAllReduce", 4000, "ncclDevKernel_AllReduce_") == said("allreduce", 4000, 4000, "Byte"));
  CHECK(moved("ncclAllGather", 4000, kAllGather) == said("_allgather_base", 4000, 32000, "Byte"));
}

TEST_CASE("kineto: the only call of a group is that of the kernel launched at its end, as PyTorch calls NCCL") {
  Rank r;
  r.group("ncclGroupStart", 0);
  r.payload("ncclAllGather", 64, 200);
  r.group("ncclGroupEnd", 400);
  SECTION("the only one") {
    r.launch(410, r.thread);
    CHECK(r.kernel() == said("_allgather_base", 64, 512, "Byte"));
  }
  SECTION("one of two") {
    r.payload("ncclAllGather", 64, 310);
    r.launch(410, r.thread);
    CHECK(r.kernel().empty());
  }
  SECTION("behind the group") {
    r.launch(510, r.thread);
    CHECK(r.kernel().empty());
  }
  SECTION("the next group is another") {
    r.group("ncclGroupStart", 600);
    r.group("ncclGroupEnd", 800);
    r.launch(810, r.thread);
    CHECK(r.kernel().empty());
  }
}

TEST_CASE("kineto: groups in groups are one, and one without its start is none") {
  Rank r;
  r.payload("ncclAllGather", 64, 200);
  SECTION("nested") {
    r.group("ncclGroupStart", 0), r.group("ncclGroupStart", 110);
    r.group("ncclGroupEnd", 310), r.group("ncclGroupEnd", 420);
    SECTION("not at the inner end") {
      r.launch(320, r.thread);
      CHECK(r.kernel().empty());
    }
    SECTION("at the outer end") {
      r.launch(430, r.thread);
      CHECK(r.kernel() == said("_allgather_base", 64, 512, "Byte"));
    }
  }
  SECTION("no start") {
    r.group("ncclGroupEnd", 310);
    r.launch(320, r.thread);
    CHECK(r.kernel().empty());
  }
}

TEST_CASE("kineto: a kernel in a CUDA graph has the call that it was captured in") {
  Rank r;
  CHECK(r.kernel("ncclDevKernel_AllReduce_Sum_f16_RING_LL(...)", r.captured(false)) ==
        said("allreduce", 1000, 1000, "Half"));
}

TEST_CASE("kineto: a kernel of another operation has not the call that its launch is in") {
  Rank r;
  r.call("ncclAllReduce", kBf16);
  r.launch(10, r.thread);
  CHECK(r.kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)").empty());
}

TEST_CASE("kineto: a later call with the same correlation is that of the kernel") {
  Rank r;
  r.call("ncclAllReduce", kBf16);
  r.launch(10, r.thread);
  r.call("ncclAllGather", kBf16, 200);
  r.launch(210, r.thread);
  CHECK(r.kernel() == said("_allgather_base", 1000, 8000, "BFloat16"));
}

TEST_CASE("kineto: of several calls of a captured group none is told") {
  Rank r;
  CHECK(r.kernel("ncclDevKernel_AllReduce_Sum_f16_RING_LL(...)", r.captured(true)).empty());
}

TEST_CASE("kineto: the ranks of a group are named where all of them are in the trace") {
  Rank r;
  for (std::int64_t rank = 1; rank < 8; ++rank) r.communicator(r.t.process(rank), kCommunicator, 0, 8);
  const auto ranks = [](std::string_view text) { return ", \"Process Group Ranks\": \"[" + std::string(text) + "]\""; };
  SECTION("of the whole job") {
    r.payload("ncclAllGather", 64);
    r.launch(10, r.thread);
    CHECK(r.kernel() == said("_allgather_base", 64, 512, "Byte") + ranks("0, 1, 2, 3, 4, 5, 6, 7"));
  }
  SECTION("of a split, whose size NCCL does not tell") {
    for (const ProcessId p : {0u, 4u}) r.communicator(p, kSplit, kCommunicator, -1);
    r.payload("ncclAllGather", 64, 0, kInSplit);
    r.launch(10, r.thread);
    CHECK(r.kernel() ==
          "\"Collective name\": \"_allgather_base\", \"In msg nelems\": 64, \"Out msg nelems\": 128, "
          "\"Group size\": 2, \"dtype\": \"Byte\", \"Process Group Name\": \"0x000000000000beef\"" +
              ranks("0, 4"));
    const std::string text = r.t.write(make_exporter());
    CHECK(text.find("\"backend_config\": \"cuda:nccl\", \"pg_size\": 2, \"ranks\": [0, 4]}") != text.npos);
  }
}

TEST_CASE("kineto: no size is made up for a split of which ranks are missing") {
  Rank r;
  r.communicator(r.process, kSplit, kCommunicator, -1);
  r.payload("ncclAllGather", 64, 0, kInSplit);
  r.launch(10, r.thread);
  CHECK(r.kernel().empty());
  const std::string text = r.t.write(make_exporter());
  CHECK(text.find("\"pg_name\": \"0x000000000000beef\", \"pg_desc\": \"\", \"backend_config\": \"cuda:nccl\"}") !=
        text.npos);
}

TEST_CASE("kineto: no arguments of a collective where one of them is not certain") {
  CHECK(!called("ncclAllGather", kBf16).empty());
  CHECK(called("ncclAllGather", kInWorld).empty());  // no type, no count, no bytes
  CHECK(called("ncclAllGather", typed(99, 1)).empty());
  CHECK(called("ncclAllGather", typed(0, 1, 0xbad)).empty());  // of unknown size
  CHECK(called("ncclGroupEnd", kBf16).empty());
  CHECK(moved("ncclAllGather", 64, "gemm").empty());
  CHECK(called("ncclAllGather", kBf16, 90).empty());  // the launch ends after the call
}

TEST_CASE("kineto: another thread's launch is not of the call") {
  Rank r;
  r.call("ncclAllGather", kBf16);
  r.launch(10, r.t.thread(r.process, 4243));
  CHECK(r.kernel().empty());
}
