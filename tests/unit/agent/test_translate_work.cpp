// Kernels, copies, sets and whole graphs.
#include "tests/unit/agent/translated.h"

namespace {

constexpr std::uint64_t kWorkStart = 1'000'000'007;

CUpti_ActivityKernel5 kernel(std::uint64_t start, std::uint64_t end) {
  CUpti_ActivityKernel5 activity{};
  activity.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  activity.start = start;
  activity.end = end;
  activity.deviceId = 3;
  activity.contextId = 2;
  activity.streamId = 7;
  activity.correlationId = 4711;
  activity.gridX = 5;
  activity.blockX = 256;
  activity.registersPerThread = 40;
  activity.name = "gemm";
  return activity;
}

void check_wide(const trace::KernelWideRecord& record, std::uint64_t start, std::uint64_t end) {
  CHECK(record.start_cupti_ns == start);
  CHECK(record.end_cupti_ns == end);
  CHECK(record.correlation == 4711);
  CHECK(record.stream == 7);
  CHECK(record.context == 2);
}

}  // namespace

TEST_CASE("a kernel of 2^32 - 1 ns is narrow, one of 2^32 ns is wide") {
  Translated buffer;
  buffer.add(kernel(kWorkStart, kWorkStart + 0xffffffffu));
  buffer.add(kernel(kWorkStart, kWorkStart + 0x100000000u));
  const auto narrow = buffer.one<trace::KernelRecord>();
  CHECK(narrow.start_cupti_ns == kWorkStart);
  CHECK(narrow.duration_ns == 0xffffffffu);
  CHECK(narrow.device == 3);
  CHECK(narrow.correlation == 4711);
  check_wide(buffer.one<trace::KernelWideRecord>(), kWorkStart, kWorkStart + 0x100000000u);
  CHECK(buffer.invalid_timestamps() == 0);
}

TEST_CASE("odd times of a kernel are kept as they came, and counted") {
  const std::uint64_t odd[][2] = {{kWorkStart, 0}, {0, kWorkStart}, {0, 0}, {kWorkStart, kWorkStart - 1}, {~0ull, 1}};
  for (const auto& times : odd) {
    Translated buffer;
    buffer.add(kernel(times[0], times[1]));
    check_wide(buffer.one<trace::KernelWideRecord>(), times[0], times[1]);
    CHECK(buffer.invalid_timestamps() == 1);
  }
}

TEST_CASE("kernels of graphs and of large device numbers are wide; no time at all is a duration") {
  Translated buffer;
  auto activity = kernel(kWorkStart, kWorkStart);
  buffer.add(activity);
  CHECK(buffer.one<trace::KernelRecord>().duration_ns == 0);
  activity.graphNodeId = 1ull << 33 | 5;
  activity.graphId = 9;
  buffer.add(activity);
  activity = kernel(kWorkStart, kWorkStart + 10);
  activity.deviceId = 0x10000;
  buffer.add(activity);
  const auto wide = buffer.in_blocks<trace::KernelWideRecord>();
  REQUIRE(wide.size() == 2);
  CHECK(wide[0].graph_node == (1ull << 33 | 5));
  CHECK(wide[0].graph == 9);
  CHECK(wide[1].device == 0x10000);
}

TEST_CASE("a kernel without a name has a shape without one") {
  Translated buffer;
  auto activity = kernel(kWorkStart, kWorkStart + 1);
  activity.name = nullptr;
  activity.gridX = 77;
  buffer.add(activity);
  CHECK(buffer.one<trace::KernelRecord>().shape_ref != trace::kNoRef);
  CHECK(buffer.one<trace::LaunchShapeRecord>().grid[0] == 77);
  CHECK(buffer.one<trace::LaunchShapeRecord>().registers_per_thread == 40);
}

TEST_CASE("launches that differ in local memory, clusters or cooperation have shapes of their own") {
  Translated buffer;
  CUpti_ActivityKernel8 activity{};
  const auto plain = kernel(kWorkStart, kWorkStart + 1);
  std::memcpy(&activity, &plain, sizeof(plain));
  activity.gridX = 78;
  for (int round = 0; round < 2; ++round) {
    activity.localMemoryPerThread = 0, activity.launchType = 0;
    activity.clusterX = activity.clusterY = activity.clusterZ = 0;
    buffer.add(activity);
    activity.localMemoryPerThread = 640;
    buffer.add(activity);
    activity.launchType = CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE;
    buffer.add(activity);
    activity.clusterX = 2, activity.clusterY = 4, activity.clusterZ = 1;
    buffer.add(activity);
    activity.clusterX = 4, activity.clusterY = 2;
    buffer.add(activity);
  }
  const auto shapes = buffer.kernel_shapes();
  REQUIRE(shapes.size() == 10);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    INFO(i);
    const std::size_t which = i % 5;
    CHECK(shapes[i].grid[0] == 78);
    CHECK(shapes[i].local_bytes_per_thread == (which == 0 ? 0 : 640));
    CHECK(shapes[i].launch_type == (which < 2 ? 0 : 1));
    CHECK(shapes[i].cluster[0] == (which < 3 ? 0 : which == 3 ? 2 : 4));
    CHECK(shapes[i].cluster[1] == (which < 3 ? 0 : which == 3 ? 4 : 2));
    CHECK(shapes[i].cluster[2] == (which < 3 ? 0 : 1));
  }
}

TEST_CASE("copies and sets keep every number, odd times too") {
  Translated buffer;
  CUpti_ActivityMemcpy4 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = 1, copy.srcKind = 2, copy.dstKind = 3, copy.flags = 1;
  copy.bytes = 1ull << 40, copy.start = kWorkStart, copy.end = 0;
  copy.deviceId = 70000, copy.contextId = 2, copy.streamId = 7, copy.correlationId = 8;
  copy.graphNodeId = 11, copy.graphId = 12;
  buffer.add(copy);
  const auto record = buffer.one<trace::MemcpyRecord>();
  CHECK(record.copy_kind == 1);
  CHECK(record.src_memory == 2);
  CHECK(record.dst_memory == 3);
  CHECK(record.bytes == 1ull << 40);
  CHECK(record.end_cupti_ns == 0);
  CHECK(record.device == 70000);
  CHECK(record.graph_node == 11);

  CUpti_ActivityMemset3 set{};
  set.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  set.value = 0xdeadbeef, set.memoryKind = 3, set.start = kWorkStart, set.end = kWorkStart - 1, set.graphId = 4;
  buffer.add(set);
  CHECK(buffer.one<trace::MemsetRecord>().value == 0xdeadbeef);
  CHECK(buffer.one<trace::MemsetRecord>().end_cupti_ns == kWorkStart - 1);

  CUpti_ActivityMemcpyPtoP3 peer{};
  peer.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  peer.srcDeviceId = 1, peer.dstDeviceId = 2, peer.srcContextId = 3, peer.dstContextId = 4;
  peer.start = kWorkStart, peer.end = kWorkStart + 1;
  buffer.add(peer);
  CHECK(buffer.one<trace::MemcpyPeerRecord>().src_device == 1);
  CHECK(buffer.one<trace::MemcpyPeerRecord>().dst_context == 4);
  CHECK(buffer.invalid_timestamps() == 2);
}

TEST_CASE("a launch of a whole graph") {
  Translated buffer("default,graph_launch", 18);
  CUpti_ActivityGraphTrace launch{};
  launch.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  launch.correlationId = 1, launch.start = kWorkStart, launch.end = kWorkStart + 5;
  launch.deviceId = 2, launch.graphId = 3, launch.contextId = 4, launch.streamId = 5;
  buffer.add(launch);
  const auto record = buffer.one<trace::GraphLaunchRecord>();
  CHECK(record.correlation == 1);
  CHECK(record.end_cupti_ns == kWorkStart + 5);
  CHECK(record.device == 2);
  CHECK(record.graph == 3);
  CHECK(record.context == 4);
  CHECK(record.stream == 5);
}
