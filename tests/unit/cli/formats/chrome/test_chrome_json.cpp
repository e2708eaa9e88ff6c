// One behaviour each, as bytes: tests/golden/export_*.json.
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/export/golden.h"
#include "tests/unit/cli/formats/export/small_trace.h"

using namespace cli;

namespace {

void golden_export(const std::string& name, SmallTrace& trace) {
  golden::compare("export_" + name + ".json", trace.json());
  CHECK(trace.summary.balanced());
}

}  // namespace

TEST_CASE("export: nothing is a valid picture of nothing") {
  SmallTrace trace;
  golden_export("empty", trace);
  CHECK(trace.summary.events_in == 0);
}

TEST_CASE("export: ranks in order, threads above streams, real ids where they can be kept") {
  SmallTrace t;
  const ProcessId second = t.process(1), unknown = t.process(-1), first = t.process(0), unused = t.process(2);
  t.catalog.tracks.reserve(16);
  const TrackId nccl = t.stream(second, 20);
  t.add(nccl, Kind::kernel, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)", kOrigin + 10, 5);
  t.add(t.stream(second, 7), Kind::kernel, "gemm", kOrigin + 10, 5);
  t.add(t.track(second, TrackKind::stream, 1, 7), Kind::kernel, "gemm", kOrigin + 10, 5);  // same id on GPU 1
  t.add(t.thread(second, 7), Kind::nvtx, "a thread whose id is a stream's", kOrigin + 10, 5);
  t.add(t.track(second, TrackKind::thread, 1001, 1001, "python"), Kind::nvtx, "the main thread", kOrigin + 10, 5);
  t.add(t.stream(first, 0), Kind::kernel, "on the legacy stream", kOrigin, 5);
  t.add(t.thread(first, 1), Kind::nvtx, "a thread with the id of its process", kOrigin + 10, 5);
  t.add(t.thread(first, 4294967295), Kind::nvtx, "no thread id at all", kOrigin + 10, 5);
  t.add(t.thread(unknown), Kind::nvtx, "somewhere", kOrigin + 10, 5);
  t.thread(unused);
  golden_export("rows", t);
}

TEST_CASE("export: overlaps get lanes of their own") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId stream = t.stream(p), thread = t.thread(p);
  t.add(stream, Kind::gpu_annotation, "forward", kOrigin, 400);
  t.add(stream, Kind::kernel, "first", kOrigin, 100);
  t.add(stream, Kind::kernel, "starts before the first ends", kOrigin + 90, 100);
  t.add(stream, Kind::memcpy, "within the second", kOrigin + 100, 10);
  t.add(stream, Kind::sync, "wait", kOrigin + 50, 200);
  t.add(stream, Kind::kernel, "alone", kOrigin + 300, 100);
  t.add(thread, Kind::nvtx, "outer", kOrigin, 100);
  t.add(thread, Kind::nvtx, "inner", kOrigin + 10, 20);
  t.add(thread, Kind::nvtx, "a range that does not nest", kOrigin + 50, 100);
  golden_export("lanes", t);
  CHECK(t.summary.extra_lanes == 4);
}

TEST_CASE("export: arrows from runtime and driver launches to kernels and copies") {
  SmallTrace t;
  const ProcessId p = t.process(0), q = t.process(1);
  const TrackId thread = t.thread(p), stream = t.stream(p);
  t.add(thread, Kind::runtime, "cudaLaunchKernel", kOrigin, 100, 1);
  t.add(thread, Kind::driver, "cuLaunchKernel", kOrigin + 10, 50, 1);  // within the runtime call
  t.add(stream, Kind::kernel, "gemm", kOrigin + 200, 100, 1);
  t.add(thread, Kind::driver, "cuLaunchKernelEx", kOrigin + 110, 50, 2);
  t.add(stream, Kind::kernel, "triton_poi_fused", kOrigin + 300, 100, 2);
  Event& copy = t.add(stream, Kind::memcpy, "Memcpy HtoD (Pinned -> Device)", kOrigin + 400, 100, 3);
  copy.bytes = 4096, copy.has_bytes = true;
  t.add(thread, Kind::runtime, "cudaMemcpyAsync", kOrigin + 170, 50, 3);
  t.add(thread, Kind::runtime, "cudaStreamSynchronize", kOrigin + 230, 270, 4);  // launches nothing
  t.add(t.stream(q), Kind::kernel, "its launch is not in the trace", kOrigin + 5, 100, 1);
  golden_export("arrows", t);
  CHECK(t.summary.flows_out == 3);
  CHECK(t.summary.works_without_launch == 1);
}

TEST_CASE("export: one graph launch points at every kernel of the graph") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  t.add(t.thread(p), Kind::runtime, "cudaGraphLaunch", kOrigin, 100, 1);
  const TrackId stream = t.stream(p);
  for (int i = 0; i < 3; ++i)
    t.add(stream, Kind::kernel, "node", kOrigin + 200 + 100 * i, 50, 1, "\"graph node id\":" + std::to_string(i));
  golden_export("graph", t);
  CHECK(t.summary.flows_out == 3);
}

TEST_CASE("export: waits, overhead, whole graphs, memory and notices have their places") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId thread = t.thread(p), stream = t.stream(p);
  const TrackId memory = t.track(p, TrackKind::other, 0, 0), recording = t.track(p, TrackKind::other, 1, 1);
  t.catalog.tracks[memory].group_name = "GPU 0 memory";
  t.catalog.tracks[recording].group_name = "recording";
  t.add(thread, Kind::runtime, "cudaGraphLaunch", kOrigin, 100, 1);
  t.add(stream, Kind::graph, "CUDA graph 4", kOrigin + 200, 100, 1);
  t.add(stream, Kind::sync, "Stream Sync", kOrigin + 250, 60, 2);
  t.add(thread, Kind::overhead, "Buffer Flush", kOrigin + 120, 30);
  Event& allocation = t.point(memory, Kind::memory, 'i', "Allocate (Device)", kOrigin + 10, 3, "\"address\": \"0x10\"");
  allocation.has_bytes = true, allocation.bytes = 4096;
  t.add(recording, Kind::notice, "gap", kOrigin + 20, kUnknownDuration, 0, "\"text\": \"why\"");
  t.point(recording, Kind::notice, 'i', "reduced_to_light", kOrigin + 300);
  golden_export("recorder", t);
  CHECK(t.summary.flows_out == 1);
  CHECK(t.summary.balanced());
}

TEST_CASE("export: arrows from the call that recorded an event to each wait for it") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId thread = t.thread(p), stream = t.stream(p);
  t.add(thread, Kind::runtime, "cudaEventRecord", kOrigin, 10, 1);
  for (const int correlation : {2, 3}) {
    t.add(stream, Kind::sync, "Stream Wait Event", kOrigin + 10 * correlation, 5,
          static_cast<std::uint64_t>(correlation), wait_for_event(1));
  }
  t.add(stream, Kind::sync, "Stream Wait Event", kOrigin + 40, 5, 4, wait_for_event());
  t.add(stream, Kind::sync, "Stream Wait Event", kOrigin + 50, 5, 5, wait_for_event(77));  // no such call
  golden_export("event_waits", t);
  CHECK(t.summary.flows_out == 2);
  CHECK(t.summary.works_without_launch == 0);
}

TEST_CASE("export: work that begins before its launch keeps its arrow") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId thread = t.thread(p), stream = t.stream(p);
  t.add(stream, Kind::kernel, "still runs when the launch begins", kOrigin, 100, 1);
  t.add(thread, Kind::runtime, "cudaLaunchKernel", kOrigin + 50, 100, 1);
  t.add(stream, Kind::kernel, "is over", kOrigin + 200, 10, 2);
  t.add(thread, Kind::runtime, "cudaLaunchKernel", kOrigin + 250, 10, 2);
  golden_export("early_work", t);
  CHECK(t.summary.flows_out == 2);
  CHECK(t.summary.backward_flows == 1);
}

TEST_CASE("export: the flow events of a file are its arrows, behind the slices that they belong to") {
  SmallTrace t;
  const ProcessId p = t.process(0, true);
  const TrackId thread = t.thread(p), stream = t.stream(p);
  t.add(thread, Kind::cpu_op, "aten::mm", kOrigin, 100);
  t.add(thread, Kind::runtime, "cudaLaunchKernel", kOrigin, 50, 7).json.args_complete = true;
  t.add(thread, Kind::cpu_op, "starts then, too", kOrigin, 20);
  t.point(thread, Kind::instant, 'i', "[memory]", kOrigin);  // would steal the flow
  t.point(thread, Kind::flow, 's', "ac2g", kOrigin, 7);
  t.point(thread, Kind::flow, 's', "fwdbwd", kOrigin, 7);  // another space of ids
  t.add(stream, Kind::kernel, "gemm", kOrigin + 200, 50, 7, "\"correlation\":7").json.args_complete = true;
  t.point(stream, Kind::flow, 'f', "ac2g", kOrigin + 200, 7);
  t.add(thread, Kind::cpu_op, "MmBackward0", kOrigin + 300, 0);
  t.point(thread, Kind::flow, 'f', "fwdbwd", kOrigin + 300, 7);
  t.point(stream, Kind::flow, 'f', "ac2g", kOrigin + 201, 8);   // no start
  t.point(thread, Kind::flow, 's', "ac2g", kOrigin + 10, 9);    // no end
  t.point(stream, Kind::flow, 'f', "ac2g", kOrigin + 600, 10);  // no slice there
  t.point(thread, Kind::flow, 's', "ac2g", kOrigin + 20, 10);
  golden_export("flows", t);
  CHECK(t.summary.flows_out == 2);
  CHECK(t.summary.one_ended_flows == 3);
  CHECK(t.summary.unplaced_flows == 1);
}

TEST_CASE("export: a flow event that was taken for a thread's finds the stream with the same ids") {
  SmallTrace t;
  const ProcessId p = t.process(0, true);
  const TrackId stream = t.track(p, TrackKind::stream, 2, 7), twin = t.track(p, TrackKind::thread, 2, 7);
  const TrackId host = t.thread(p);
  t.add(host, Kind::runtime, "hipMemcpyAsync", kOrigin, 100, 8);
  t.point(host, Kind::flow, 's', "ac2g", kOrigin, 8);
  t.add(stream, Kind::memcpy, "Memcpy DtoD", kOrigin + 200, 150, 8);
  t.point(twin, Kind::flow, 'f', "ac2g", kOrigin + 200, 8);
  t.point(twin, Kind::flow, 'f', "ac2g", kOrigin + 400, 8);  // nothing on either
  const std::string text = t.json();
  CHECK(t.summary.balanced());
  CHECK(t.summary.flows_out == 1);
  CHECK(t.summary.unplaced_flows == 1);
  CHECK(text.find("\"thread 7\"") == text.npos);
}

TEST_CASE("export: what has no end is drawn to the end of the trace") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId thread = t.thread(p), stream = t.stream(p);
  t.add(thread, Kind::nvtx, "step", kOrigin, 100);
  t.add(stream, Kind::kernel, "ncclDevKernel_AllReduce", kOrigin + 10, kUnknownDuration, 3, "\"stream\":7");
  t.add(stream, Kind::kernel, "runs beside it", kOrigin + 40, 160);
  t.add(thread, Kind::nvtx, "cut at its start", kOrigin + 20, 10).open_start = true;
  golden_export("unfinished", t);
  CHECK(t.summary.unfinished == 1);
}

TEST_CASE("export: hostile names stay within their strings") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  t.catalog.processes[p].host = "no\"de\\1";
  const TrackId thread = t.track(p, TrackKind::thread, 1000, 42, "py\x01\"thon\xFF");
  t.add(thread, Kind::nvtx, "\"},{\"ph\":\"X", kOrigin, 1);
  t.add(thread, Kind::nvtx, "new\nline \\ \xC3\xA9 \xC3", kOrigin + 1, 1).category = t.catalog.strings.intern("c\"at");
  t.add(thread, Kind::nvtx, "", kOrigin + 2, 1);
  golden_export("hostile_names", t);
}

TEST_CASE("export: instants, counters and host calls with their bytes") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId thread = t.thread(p), stream = t.stream(p);
  Event& call =
      t.add(thread, Kind::nccl, "ncclAllReduce", kOrigin, 100, 0, "\"communicator\":\"0xfeed\",\"ordinal\":3");
  call.bytes = 1048576, call.has_bytes = true;
  t.point(thread, Kind::nvtx, 'i', "mark", kOrigin + 10, 0, "\"domain\":\"trainer\"");
  t.point(stream, Kind::counter, 'C', "queue", kOrigin + 20, 0, "\"kernels\":3");
  golden_export("points", t);
  CHECK(t.summary.instants_out == 1);
  CHECK(t.summary.counters_out == 1);
}
