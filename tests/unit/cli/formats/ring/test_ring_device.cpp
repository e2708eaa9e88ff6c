// Records of CUPTI besides eager kernels, copies and calls: waits, overhead, whole graphs, nodes of graphs, memory.
#include <cstdio>
#include <cstring>

#include "ring_recording.h"

using namespace cli;

namespace {

constexpr std::uint32_t kNone = 0xffffffff;
constexpr std::uint64_t kStart = 9'500'000'000;

template <typename Record>
Record timed() {
  auto record = trace::make_record<Record>();
  record.correlation = 77;
  record.start_cupti_ns = kStart;
  record.end_cupti_ns = kStart + 250;
  return record;
}

trace::SyncRecord sync(std::uint8_t type, std::uint32_t stream, std::uint32_t event) {
  auto record = timed<trace::SyncRecord>();
  record.type = type, record.context = 3, record.stream = stream, record.event = event;
  return record;
}

}  // namespace

TEST_CASE("ring: a wait of a stream lies on it, on the device of its context") {
  Recording recording;
  auto context = trace::make_record<trace::ContextRecord>();
  context.context = 3, context.device = 5, context.null_stream = 7;
  recording.define(context);
  recording.add(sync(2, 20, 9));
  const KeptRecord kept = recording.one();
  CHECK(kept.event.kind == Kind::sync);
  CHECK(recording.name_of(kept.event) == "Stream Wait Event");
  CHECK(kept.event.start_ns == 10'500'000'000);
  CHECK(kept.event.duration_ns == 250);
  CHECK(kept.event.correlation == 77);
  CHECK((recording.track_of(kept.event).group == 5 && recording.track_of(kept.event).id == 20));
  CHECK(kept.args ==
        "\"cuda_sync_kind\": \"Stream Wait Event\", \"device\": 5, \"context\": 3, \"stream\": 20, "
        "\"wait_on_stream\": -1, \"wait_on_cuda_event_record_corr_id\": -1, \"wait_on_cuda_event_id\": 9");
  CHECK(recording.process().counts[static_cast<std::size_t>(Kind::sync)] == 1);
}

namespace {

struct Made {
  std::uint32_t correlation, stream, event;
  std::uint64_t sync_id;
  std::uint32_t context = 3;
};

void add_event(Recording& recording, const Made& made) {
  auto record = trace::make_record<trace::CudaEventRecord>();
  record.correlation = made.correlation, record.context = made.context, record.stream = made.stream;
  record.event = made.event, record.event_sync_id = made.sync_id;
  recording.add(record);
}

trace::SyncRecord wait_for(std::uint32_t correlation, std::uint32_t event, std::uint64_t sync_id) {
  auto record = sync(2, 20, event);
  record.correlation = correlation, record.event_sync_id = sync_id;
  return record;
}

// "stream/correlation" of what the wait with this correlation waits for.
std::string awaited(const KeepingSink& read, std::uint32_t correlation) {
  for (const KeptRecord& each : read.all) {
    if (each.event.kind != Kind::sync || each.event.correlation != correlation) continue;
    long long stream = 0, call = 0;
    const std::size_t at = each.args.find("\"wait_on_stream\"");
    REQUIRE(std::sscanf(each.args.c_str() + at, "\"wait_on_stream\": %lld, \"wait_on_cuda_event_record_corr_id\": %lld",
                        &stream, &call) == 2);
    return std::to_string(stream) + "/" + std::to_string(call);
  }
  return "no such wait";
}

}  // namespace

TEST_CASE("ring: a wait names the recording of its event that CUPTI says, wherever in the file that is") {
  Recording recording;
  recording.add(wait_for(13, 9, 102));  // before what it waits for
  add_event(recording, {10, 7, 9, 101});
  add_event(recording, {12, 8, 9, 102});
  add_event(recording, {14, 6, 9, 103});
  recording.add(wait_for(15, 9, 101));  // an older one than the last: CUPTI knows
  recording.add(wait_for(16, 9, 99));   // overwritten
  recording.add(wait_for(17, 9, 0));    // never recorded
  recording.add(wait_for(18, 8, 102));  // of another event
  const KeepingSink read = recording.read();
  REQUIRE(read.all.size() == 5);
  CHECK(awaited(read, 13) == "8/12");
  CHECK(awaited(read, 15) == "7/10");
  CHECK(awaited(read, 16) == "-1/-1");
  CHECK(awaited(read, 17) == "-1/-1");
  CHECK(awaited(read, 18) == "-1/-1");
}

TEST_CASE("ring: where CUPTI does not say it, a wait names the last recording of its event before its own call") {
  Recording recording;
  recording.add(wait_for(13, 9, 0));
  add_event(recording, {14, 6, 9, 0});
  add_event(recording, {10, 7, 9, 0});
  add_event(recording, {12, 8, 9, 0});
  add_event(recording, {11, 5, 4, 0});
  add_event(recording, {0xfffffff0, 2, 6, 0});  // correlations begin again at 0
  recording.add(wait_for(2, 6, 0));
  recording.add(wait_for(9, 9, 0));    // before the first
  recording.add(wait_for(15, 77, 0));  // no such event
  add_event(recording, {16, 5, 4, 0, 33});
  recording.add(wait_for(17, 4, 0));  // the other is an event of another context
  const KeepingSink read = recording.read();
  CHECK(awaited(read, 13) == "8/12");
  CHECK(awaited(read, 2) == "2/4294967280");
  CHECK(awaited(read, 9) == "-1/-1");
  CHECK(awaited(read, 15) == "-1/-1");
  CHECK(awaited(read, 17) == "5/11");
}

TEST_CASE("ring: what was lost may be what a wait waited for, unless CUPTI says what that is") {
  for (int what = 0; what < 3; ++what) {
    for (const std::uint64_t sync_id : {0, 101}) {
      Recording recording;
      add_event(recording, {10, 7, 9, sync_id});
      recording.add(wait_for(13, 9, sync_id));
      trace::FileHeader& header = *recording.memory.ring.header;
      if (what == 0) header.lost[static_cast<std::size_t>(trace::CudaEventRecord::kKind) - 16] = 1;
      if (what == 1) header.cupti_dropped = 1;
      if (what == 2) header.discarded_buffers = 1;
      CHECK(awaited(recording.read(), 13) == (sync_id != 0 ? "7/10" : "-1/-1"));
    }
  }
}

TEST_CASE("ring: a call that recorded an event says which, and into which stream") {
  Recording recording;
  auto name = trace::make_record<trace::ApiNameRecord>();
  name.domain = static_cast<std::uint8_t>(trace::RuntimeRecord::kKind), name.cbid = 135;
  std::strcpy(name.name, "cudaEventRecord");
  recording.define(name);
  auto call = trace::make_record<trace::RuntimeRecord>();
  call.cbid = 135, call.correlation = 10, call.start_cupti_ns = kStart, call.duration_ns = 5, call.tid = 4;
  recording.add(call);
  call.correlation = 11;
  recording.add(call);
  add_event(recording, {10, 7, 9, 101});
  const KeepingSink read = recording.read();
  REQUIRE(read.all.size() == 2);
  CHECK(read.all[0].args == "\"cbid\": 135, \"event_id\": 9, \"event_stream\": 7");
  CHECK(read.all[1].args == "\"cbid\": 135");
}

TEST_CASE("ring: kernels show what few of them have, and the priority of their stream") {
  Recording recording;
  auto stream = trace::make_record<trace::StreamRecord>();
  stream.context = 3, stream.stream = 20, stream.priority = -5;
  recording.define(stream);
  auto shape = trace::make_record<trace::LaunchShapeRecord>();
  shape.name_ref = recording.name("k");
  shape.local_bytes_per_thread = 640, shape.launch_type = 1;
  shape.cluster[0] = 2, shape.cluster[1] = 4, shape.cluster[2] = 1;
  auto kernel = trace::make_record<trace::KernelRecord>();
  kernel.start_cupti_ns = kStart, kernel.context = 3, kernel.stream = 20;
  kernel.shape_ref = recording.define(shape);
  recording.add(kernel);
  // Of a recording of before: its shape ends behind the shared memory.
  shape.size_words = 5;
  kernel.shape_ref = trace::append_definition(recording.memory.ring, 0, &shape, 40);
  kernel.stream = 21;
  recording.add(kernel);
  const KeepingSink read = recording.read();
  REQUIRE(read.all.size() == 2);
  CHECK(
      read.all[0].args.ends_with("\"shared memory\": 0, \"local memory per thread\": 640, \"cluster\": [2, 4, 1], "
                                 "\"launch type\": \"cooperative\", \"priority\": -5"));
  CHECK(read.all[1].args.ends_with("\"shared memory\": 0"));
}

TEST_CASE("ring: the other waits by Kineto's names; one without a stream has a row of its own") {
  const char* names[] = {"Unknown Sync", "Event Sync",   "Stream Wait Event",
                         "Stream Sync",  "Context Sync", "Unknown Sync"};
  for (std::uint8_t type = 0; type < 6; ++type) {
    Recording recording;
    recording.add(sync(type, kNone, kNone));
    const KeptRecord kept = recording.one();
    CHECK(recording.name_of(kept.event) == names[type]);
    CHECK(recording.track_of(kept.event).kind == TrackKind::other);
    CHECK(recording.track_of(kept.event).group_name == "GPU 0 waits");
  }
}

TEST_CASE("ring: overhead lies on the thread that paid, by Kineto's names") {
  const std::pair<std::uint32_t, const char*> kinds[] = {{1, "Driver Compiler"},
                                                         {1u << 16, "Buffer Flush"},
                                                         {5u << 16, "Lazy Function Loading"},
                                                         {6u << 16, "Command Buffer Full"},
                                                         {7u << 16, "Activity Buffer Request"},
                                                         {99u << 16, "Unknown"},
                                                         {4u << 16, "Runtime Triggered Module Loading"}};
  for (const auto& [number, name] : kinds) {
    Recording recording;
    auto record = timed<trace::OverheadRecord>();
    record.overhead = number, record.object = 2, record.tid = 4242;
    recording.add(record);
    const KeptRecord kept = recording.one();
    CHECK(kept.event.kind == Kind::overhead);
    CHECK(recording.name_of(kept.event) == name);
    CHECK((recording.track_of(kept.event).kind == TrackKind::thread && recording.track_of(kept.event).id == 4242));
  }
}

TEST_CASE("ring: a time that no clock shows is a damaged record's, and left out") {
  Recording recording;
  auto record = timed<trace::OverheadRecord>();
  record.overhead = 1, record.start_cupti_ns = 1, record.end_cupti_ns = INT64_MAX;
  recording.add(record);
  record.start_cupti_ns = record.end_cupti_ns = std::uint64_t{1} << 63;
  recording.add(record);
  CHECK(recording.read().all.empty());
}

TEST_CASE("ring: a whole launch of a graph is GPU work of its stream") {
  Recording recording;
  auto record = timed<trace::GraphLaunchRecord>();
  record.device = 1, record.context = 2, record.stream = 13, record.graph = 4;
  recording.add(record);
  const KeptRecord kept = recording.one();
  CHECK(is_gpu_work(kept.event.kind));
  CHECK(recording.name_of(kept.event) == "CUDA graph 4");
  CHECK(recording.track_of(kept.event).kind == TrackKind::stream);
  CHECK(kept.args == "\"device\": 1, \"context\": 2, \"stream\": 13, \"graph id\": 4");
}

TEST_CASE("ring: memory operations are moments with all that is known") {
  Recording recording;
  auto record = trace::make_record<trace::MemoryRecord>();
  record.operation = 1, record.memory = 3, record.correlation = 5, record.time_cupti_ns = kStart;
  record.address = 0x7f0000001000, record.bytes = 1 << 20, record.device = 1, record.context = 2;
  record.stream = 13, record.is_async = 1, record.pool_address = 0xabc;
  recording.add(record);
  auto pool = trace::make_record<trace::MemoryPoolRecord>();
  pool.operation = 3, pool.pool = 1, pool.time_cupti_ns = kStart + 1, pool.address = 0xabc, pool.bytes = 4096;
  pool.used_bytes = 1024, pool.release_threshold_bytes = 2048, pool.device = 1;
  recording.add(pool);
  const auto all = recording.read().all;
  REQUIRE(all.size() == 2);
  CHECK(recording.name_of(all[0].event) == "Allocate (Device)");
  CHECK((all[0].event.phase == 'i' && all[0].event.kind == Kind::memory));
  CHECK((all[0].event.has_bytes && all[0].event.bytes == 1 << 20 && all[0].event.correlation == 5));
  CHECK(all[0].args ==
        "\"device\": 1, \"context\": 2, \"stream\": 13, \"address\": \"0x7f0000001000\", \"asynchronous\": true, "
        "\"pool address\": \"0xabc\"");
  CHECK(recording.name_of(all[1].event) == "Memory pool trimmed");
  CHECK(all[1].args ==
        "\"device\": 1, \"pool address\": \"0xabc\", \"pool type\": 1, \"used bytes\": 1024, \"release threshold "
        "bytes\": 2048");
  CHECK(all[0].event.track == all[1].event.track);
}

TEST_CASE("ring: both kinds of copies share what they share") {
  Recording recording;
  const auto fill = [](auto record) {
    record.copy_kind = 8, record.src_memory = record.dst_memory = 3, record.bytes = 64, record.device = 2;
    record.context = 1, record.stream = 7;
    return record;
  };
  recording.add(fill(timed<trace::MemcpyRecord>()));
  auto peer = fill(timed<trace::MemcpyPeerRecord>());
  peer.src_device = 2, peer.dst_device = 3, peer.src_context = 1, peer.dst_context = 4;
  recording.add(peer);
  const auto all = recording.read().all;
  REQUIRE(all.size() == 2);
  for (const KeptRecord& kept : all) {
    CHECK(recording.name_of(kept.event) == "Memcpy DtoD (Device -> Device)");
    CHECK((kept.event.kind == Kind::memcpy && kept.event.bytes == 64 && kept.event.duration_ns == 250));
    CHECK(kept.event.track == all[0].event.track);
  }
  CHECK(all[0].args == "\"device\": 2, \"context\": 1, \"stream\": 7");
  CHECK(all[1].args ==
        "\"fromDevice\": 2, \"inDevice\": 2, \"toDevice\": 3, \"fromContext\": 1, \"inContext\": 1, \"toContext\": 4, "
        "\"stream\": 7");
}

TEST_CASE("ring: a kernel of a graph tells what was open at its capture, through every clone of its node") {
  Recording recording;
  auto captured = trace::make_record<trace::GraphNodeRecord>();
  captured.node = 100, captured.range_ref = recording.name("backward"), captured.domain_ref = trace::kNoRef;
  captured.nccl_class = 1, captured.nccl_name_ref = recording.name("ncclAllReduce"), captured.has = 1 | 2 | 4;
  captured.communicator = 0xc0ffee, captured.bytes = 4096, captured.ordinal = 12, captured.epoch = 1;
  recording.define(captured);
  auto clone = trace::make_record<trace::GraphNodeRecord>();
  clone.node = 200, clone.captured_node = 100;
  recording.define(clone);
  clone.node = 300, clone.captured_node = 200;
  recording.define(clone);
  auto kernel = timed<trace::KernelWideRecord>();
  kernel.shape_ref = recording.shape("ring_ll"), kernel.graph = 5, kernel.graph_node = 300;
  recording.add(kernel);
  const KeptRecord kept = recording.one();
  const std::string tail = kept.args.substr(kept.args.find("\"graph id\""));
  CHECK(tail ==
        "\"graph id\": 5, \"graph node id\": 300, \"captured\": true, \"nvtx range\": \"backward\", \"nccl call\": "
        "\"ncclAllReduce\", \"nccl bytes\": 4096, \"communicator\": \"0x0000000000c0ffee\", \"epoch\": 1, \"ordinal\": "
        "12, \"reduction\": \"sum\"");
}

TEST_CASE("ring: a kernel of a graph tells that its call may be another of the group") {
  Recording recording;
  auto captured = trace::make_record<trace::GraphNodeRecord>();
  captured.node = 100, captured.range_ref = captured.domain_ref = trace::kNoRef;
  captured.nccl_class = 1, captured.nccl_name_ref = recording.name("ncclSend"), captured.has = trace::kHasFirstOf;
  recording.define(captured);
  auto kernel = timed<trace::KernelWideRecord>();
  kernel.shape_ref = recording.shape("ring_ll"), kernel.graph = 5, kernel.graph_node = 100;
  recording.add(kernel);
  CHECK(recording.one().args.find("\"nccl call\": \"ncclSend\", \"nccl group\": \"the first of several calls\"") !=
        std::string::npos);
}

TEST_CASE("ring: nodes that are unknown or go in circles say nothing") {
  Recording recording;
  auto node = trace::make_record<trace::GraphNodeRecord>();
  node.node = 1, node.captured_node = 2;
  recording.define(node);
  node.node = 2, node.captured_node = 1;
  recording.define(node);
  auto kernel = timed<trace::KernelWideRecord>();
  kernel.shape_ref = recording.shape("k"), kernel.graph = 5, kernel.graph_node = 1;
  recording.add(kernel);
  kernel.graph_node = 99;
  recording.add(kernel);
  for (const KeptRecord& kept : recording.read().all) CHECK(kept.args.find("captured") == std::string::npos);
}

TEST_CASE("ring: the GPU that was used gives its name, all of them their properties") {
  Recording recording;
  auto device = trace::make_record<trace::DeviceRecord>();
  for (const std::uint32_t number : {1u, 0u}) {
    device.device = number, device.multiprocessors = 132, device.uuid[0] = 0xab;
    std::snprintf(device.name, sizeof(device.name), "NVIDIA H100 %u", number);
    recording.define(device);
  }
  auto kernel = timed<trace::KernelWideRecord>();
  kernel.shape_ref = recording.shape("k"), kernel.device = 1;
  recording.add(kernel);
  recording.read();
  CHECK(recording.process().device_name == "NVIDIA H100 1");
  REQUIRE(recording.process().devices.size() == 2);
  CHECK(recording.process().devices[0].device == 0);
  CHECK(recording.process().devices[1].multiprocessors == 132);
  CHECK(recording.process().devices[1].uuid == "GPU-ab000000-0000-0000-0000-000000000000");
}

TEST_CASE("ring: streams get the program's names, and their priorities") {
  Recording recording;
  auto context = trace::make_record<trace::ContextRecord>();
  context.context = 3, context.device = 0, context.null_stream = 7;
  recording.define(context);
  auto stream = trace::make_record<trace::StreamRecord>();
  stream.context = 3, stream.stream = 20, stream.priority = -5;
  recording.define(stream);
  auto named = trace::make_record<trace::ResourceNameRecord>();
  named.resource = static_cast<std::uint8_t>(trace::ResourceKind::stream), named.id = 20, named.context = 3;
  named.name_ref = recording.name("comm");
  recording.define(named);
  for (const std::uint32_t number : {7u, 20u, 21u}) {
    auto kernel = timed<trace::KernelWideRecord>();
    kernel.shape_ref = recording.shape("k"), kernel.context = 3, kernel.stream = number;
    recording.add(kernel);
  }
  const auto all = recording.read().all;
  CHECK(recording.track_of(all[0].event).name == "default");
  CHECK(recording.track_of(all[1].event).name == "comm");
  CHECK(recording.track_of(all[1].event).priority == -5);
  CHECK(recording.track_of(all[2].event).name.empty());
}
