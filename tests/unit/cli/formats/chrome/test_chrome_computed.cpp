// What the picture shows besides the events, as bytes: tests/golden/export_*.json.
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/export/golden.h"
#include "tests/unit/cli/formats/export/small_trace.h"

using namespace cli;
using namespace cli::chrome;

namespace {

const std::string kNccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

void golden_export(const std::string& name, SmallTrace& trace, std::vector<DerivedTrack> computed) {
  trace.computed = std::move(computed);
  golden::compare("export_" + name + ".json", trace.json());
  CHECK(trace.summary.balanced());
}

}  // namespace

TEST_CASE("export: idle rows beneath the streams of their device") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId first = t.stream(p, 7), second = t.track(p, TrackKind::stream, 1, 7), last = t.stream(p, 20);
  t.add(first, Kind::kernel, "gemm", kOrigin, 1000);
  t.add(last, Kind::kernel, "gemm", kOrigin + 1500, 500);  // 500 ns later: too short to draw
  t.add(first, Kind::kernel, "gemm", kOrigin + 4345, 1000);
  t.add(second, Kind::kernel, "gemm", kOrigin, 1000);
  t.add(second, Kind::kernel, "gemm", kOrigin + 3000, 1000);
  golden_export("idle", t, {DerivedTrack::idle});
  CHECK(t.summary.derived_slices == 2);
}

TEST_CASE("export: exposed communication, and how many collectives run") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId compute = t.stream(p, 7), nccl = t.stream(p, 20);
  t.add(nccl, Kind::kernel, kNccl, kOrigin, 5000);
  t.add(compute, Kind::kernel, "elementwise", kOrigin + 1000, 2000);
  golden_export("exposed", t, {DerivedTrack::exposed_comm, DerivedTrack::comm_in_flight});
  CHECK(t.summary.derived_slices == 2);
}

TEST_CASE("export: launches that wait for their device") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId thread = t.thread(p), stream = t.stream(p);
  t.add(thread, Kind::runtime, "cudaLaunchKernel", kOrigin, 100, 1);
  t.add(thread, Kind::runtime, "cudaGraphLaunch", kOrigin + 200, 100, 2);
  t.add(stream, Kind::kernel, "elementwise", kOrigin + 250, 100, 1);
  t.add(stream, Kind::kernel, "first node", kOrigin + 350, 100, 2);
  t.add(stream, Kind::kernel, "second node", kOrigin + 450, 100, 2);
  golden_export("queue", t, {DerivedTrack::queue_length});
}

TEST_CASE("export: copies by direction in GB/s") {
  SmallTrace t;
  const TrackId stream = t.stream(t.process(0)), other = t.stream(0, 8);
  Event* copy = &t.add(stream, Kind::memcpy, "Memcpy HtoD (Pinned -> Device)", kOrigin, 300);
  copy->bytes = 1000, copy->has_bytes = true;
  copy = &t.add(other, Kind::memcpy, "Memcpy DtoH (Device -> Pinned)", kOrigin + 100, 100);
  copy->bytes = 2500, copy->has_bytes = true;
  golden_export("bandwidth", t, {DerivedTrack::copy_h2d, DerivedTrack::copy_d2h});
  CHECK(t.summary.derived_values > 0);
}

TEST_CASE("export: busy percent of windows") {
  SmallTrace t;
  const TrackId stream = t.stream(t.process(0));
  t.add(stream, Kind::kernel, "elementwise", kOrigin, 25'000);
  t.add(stream, Kind::kernel, "elementwise", kOrigin + 100'000, 200'000);
  golden_export("busy", t, {DerivedTrack::busy});
}

TEST_CASE("export: memory by device and of the host") {
  SmallTrace t;
  const TrackId thread = t.thread(t.process(0));
  const auto says = [&](std::int64_t at, const AllocatorFacts& facts) {
    t.point(thread, Kind::instant, 'i', "[memory]", kOrigin + at, 0, facts);
  };
  constexpr auto kAll = AllocatorFacts::kAllocated | AllocatorFacts::kReserved | AllocatorFacts::kDeviceId;
  says(0, {.device_type = 1, .device = 0, .allocated_bytes = 512, .reserved_bytes = 2097152, .has = kAll});
  says(5, {.device_type = 0, .device = -1, .allocated_bytes = 64, .reserved_bytes = 0, .has = kAll});
  golden_export("memory", t, {DerivedTrack::allocated, DerivedTrack::reserved});
}

TEST_CASE("export: what was lost is a slice where it must have happened") {
  SmallTrace t;
  const ProcessId some = t.process(0), all = t.process(1), none = t.process(2);
  Process& p = t.catalog.processes[some];
  p.overwritten[static_cast<std::size_t>(Kind::kernel)] = 12345;
  p.overwritten[static_cast<std::size_t>(Kind::memcpy)] = 1;
  p.lost[static_cast<std::size_t>(Kind::runtime)] = 1000;
  p.lost_unknown_kind = 3;
  p.recorder.created_ns = kOrigin - 3'600'000'000'000;
  p.notices.push_back({trace::NoticeCode::gap, kOrigin + 20'000, kOrigin + 40'000, 0, "CUPTI was taken"});
  t.catalog.processes[all].lost[static_cast<std::size_t>(Kind::nvtx)] = 1;
  t.add(t.thread(none), Kind::nvtx, "a little earlier", kOrigin - 500, 1);
  t.add(t.thread(some), Kind::nvtx, "step", kOrigin, 100'000);
  golden_export("lost", t, {DerivedTrack::lost});
}

TEST_CASE("export: colours by kind of work") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId thread = t.thread(p), stream = t.stream(p);
  t.add(thread, Kind::nccl, "ncclAllReduce", kOrigin, 10);
  t.add(stream, Kind::kernel, kNccl, kOrigin, 10);
  t.add(stream, Kind::kernel, "ampere_sgemm_128x64_tn", kOrigin + 10, 10);
  t.add(stream, Kind::kernel, "elementwise", kOrigin + 20, 10);
  t.add(stream, Kind::memcpy, "Memcpy DtoD (Device -> Device)", kOrigin + 30, 10);
  t.add(stream, Kind::memset, "Memset (Device)", kOrigin + 40, 10);
  t.add(stream, Kind::sync, "Stream Sync", kOrigin + 40, 10);
  golden_export("colors", t, {DerivedTrack::exposed_comm});
}

TEST_CASE("export: kernels by short names, with the full one beside") {
  SmallTrace t;
  const TrackId stream = t.stream(t.process(0));
  t.add(stream, Kind::kernel,
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int, "
        "at::native::CUDAFunctor_add<float>)",
        kOrigin, 10, 1, "\"grid\": [1, 1, 1]");
  t.add(stream, Kind::kernel, "_ZN2at6native4fillIfEEvPT_i", kOrigin + 10, 10);
  t.add(stream, Kind::kernel, "triton_poi_fused_add_0", kOrigin + 20, 10);
  t.add(stream, Kind::kernel, "void \"quoted\"<\x01, \xff>(int)", kOrigin + 30, 10);
  t.add(stream, Kind::gpu_annotation, "void not_a_kernel<int>(int)", kOrigin, 10);
  golden_export("short_names", t, {});
}

TEST_CASE("export: computed rows of a process without events are described, too") {
  SmallTrace t;
  t.thread(t.process(0));
  StringSink sink;
  const auto exporter = make_chrome_json();
  exporter->origin(1000);
  exporter->begin(t.catalog, sink);
  exporter->derived({0, DerivedTrack::idle, 0, 500, 600, 0, idle(600)});
  exporter->derived({0, DerivedTrack::idle, 0, 10, 20, 0, idle(20)});
  exporter->derived({0, DerivedTrack::queue_length, 0, 10, 0, 3, {}});
  const ExportSummary summary = exporter->finish();
  CHECK(summary.derived_slices == 1);
  CHECK(summary.derived_values == 1);
  CHECK(sink.text.find("\"process_name\"") != sink.text.npos);
  CHECK(sink.text.find("\"ts\":0.000,\"dur\":0.100") != sink.text.npos);
  CHECK(sink.text.find("\"args\":{\"launches\":3}") != sink.text.npos);
}
