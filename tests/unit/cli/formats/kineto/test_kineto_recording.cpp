// A recording in the schema of PyTorch's profiler, as bytes: tests/golden/kineto_*.json. Events are as cli/formats/ring
// makes them. What Kineto writes: libkineto/src/output_json.cpp and CuptiActivity.cpp in github.com/pytorch/kineto.
#include "cli/formats/kineto/exporter.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/export/golden.h"
#include "tests/unit/cli/formats/export/small_trace.h"

using namespace cli;
using namespace cli::kineto;

namespace {

std::string profile(SmallTrace& trace) { return trace.write(make_exporter()); }

void golden_profile(const std::string& name, SmallTrace& trace) {
  golden::compare("kineto_" + name + ".json", profile(trace));
  CHECK(trace.summary.balanced());
}

}  // namespace

TEST_CASE("kineto: one call for each correlation, an arrow for each work") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId thread = t.thread(p), other = t.thread(p, 4243), stream = t.stream(p);
  t.add(thread, Kind::runtime, "cudaLaunchKernel", kOrigin, 500, 1, "\"cbid\": 211");
  t.add(thread, Kind::driver, "cuLaunchKernel", kOrigin + 100, 300, 1, "\"cbid\": 307");
  t.add(other, Kind::driver, "cuLaunchKernel", kOrigin + 150, 300, 2, "\"cbid\": 307");
  Event& copy = t.add(stream, Kind::memcpy, "Memcpy DtoD (Device -> Device)", kOrigin + 2000, 1000, 2,
                      "\"device\": 0, \"context\": 1, \"stream\": 7");
  copy.bytes = 4096, copy.has_bytes = true;
  t.add(stream, Kind::kernel, "gemm", kOrigin + 1000, 1000, 1, "\"device\": 0, \"context\": 1, \"stream\": 7");
  t.add(stream, Kind::kernel, "of an earlier launch", kOrigin + 500, 400, 99, "\"device\": 0, \"stream\": 7");
  golden_profile("calls", t);
  CHECK(t.summary.flows_out == 2);
  CHECK(t.summary.works_without_launch == 1);
}

TEST_CASE("kineto: waits and overhead on rows of their own") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId thread = t.thread(p), stream = t.stream(p), gpu = t.track(p, TrackKind::other, 0, -1, "");
  t.catalog.tracks[gpu].group_name = "GPU 0 waits";
  t.add(stream, Kind::sync, "Stream Sync", kOrigin, 500, 1, "\"cuda_sync_kind\": \"Stream Sync\", \"stream\": 7");
  t.add(stream, Kind::sync, "Stream Wait Event", kOrigin + 600, 10, 2, "\"cuda_sync_kind\": \"Stream Wait Event\"");
  t.add(gpu, Kind::sync, "Context Sync", kOrigin + 700, 500, 3, "\"cuda_sync_kind\": \"Context Sync\", \"device\": 0");
  t.add(thread, Kind::overhead, "Lazy Function Loading", kOrigin + 800, 50, 3, "\"overhead\": 327680");
  golden_profile("waits", t);
}

TEST_CASE("kineto: allocations by the names of PyTorch's allocator") {
  SmallTrace t;
  const TrackId gpu = t.track(t.process(1), TrackKind::other, 3, -1, "");
  t.catalog.tracks[gpu].group_name = "GPU 3 memory";
  const auto add = [&](std::string_view name, std::int64_t at, KeptFacts facts) {
    Event& e = t.point(gpu, Kind::memory, 'i', name, kOrigin + at, 4, std::move(facts));
    e.bytes = 4096, e.has_bytes = true;
  };
  const auto memory = [](std::uint8_t operation, std::uint8_t kind, std::uint64_t address) {
    MemoryFacts facts;
    facts.operation = operation, facts.memory = kind, facts.device = 3, facts.context = 1, facts.address = address;
    return facts;
  };
  add("Allocate (Device)", 0, memory(1, 3, 0x7f0000000000));
  add("Release (Device)", 10, memory(2, 3, 0x7f0000000000));
  add("Allocate (Pinned)", 20, memory(1, 2, ~std::uint64_t{0}));
  PoolFacts pool;
  pool.operation = 3, pool.pool = 1, pool.device = 3, pool.address = 0x10;
  pool.used_bytes = 1024, pool.release_threshold_bytes = 2048;
  add("Memory pool trimmed", 30, pool);
  golden_profile("memory", t);
}

TEST_CASE("kineto: steps are named as torch.profiler names them") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId thread = t.thread(p, t.catalog.processes[p].pid);
  t.add(thread, Kind::nvtx, "train step 7", kOrigin, 1000, 0, "\"domain\": \"app\"");
  t.steps = {{{7, kOrigin, kOrigin + 1000}}};
  golden_profile("steps", t);
  CHECK(t.summary.derived_slices == 1);
  t.add(thread, Kind::nvtx, "ProfilerStep#7", kOrigin, 1000);
  profile(t);
  CHECK(t.summary.derived_slices == 0);
}

TEST_CASE("kineto: calls of Python end with the steps and ranges that they began in") {
  const auto calls = [](bool steps, bool range, const FormatOptions& options = {}) {
    SmallTrace t;
    const ProcessId p = t.process(0);
    const TrackId thread = t.thread(p, t.catalog.processes[p].pid);
    StackFrame frame;
    frame.what = StackFrame::kPython, frame.line = 3;
    frame.name = t.catalog.strings.intern("step");
    OperatorFacts op;
    op.stack = t.catalog.stacks.intern(frame);
    if (range) t.add(thread, Kind::nvtx, "forward", kOrigin + 50, 500, 0, "");
    for (const std::int64_t at : {100, 300, 1100, 1300})
      t.add(thread, Kind::cpu_op, "aten::mm", kOrigin + at, 100, 0, op);
    if (steps) t.steps = {{{1, kOrigin, kOrigin + 1000}, {2, kOrigin + 1000, kOrigin + 2000}}};
    const std::string text = t.write(make_exporter(options));
    std::size_t found = 0;
    for (std::size_t at = text.find("python_function"); at != text.npos; at = text.find("python_function", at + 1))
      ++found;
    CHECK(t.summary.derived_slices == found + (steps ? 2 : 0));
    CHECK(t.summary.balanced());
    return found;
  };
  CHECK(calls(false, false) == 1);
  CHECK(calls(true, false) == 2);
  CHECK(calls(false, true) == 2);
  FormatOptions recorded_alone;
  recorded_alone.computed = false;
  CHECK(calls(false, true, recorded_alone) == 0);
}
