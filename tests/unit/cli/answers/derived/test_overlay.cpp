// One computed track each, by hand.
#include <fmt/format.h>

#include "cli/answers/derived/device_tracks.h"
#include "cli/answers/derived/overlay.h"
#include "cli/trace/names.h"
#include "derived_tracks.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

class Scene {
 public:
  DerivedTracks tracks;
  Catalog catalog;
  std::vector<std::pair<Event, KeptFacts>> events;

  Scene() { catalog.add_process(Process()); }

  Event& add(TrackId track, Kind kind, std::string_view name, std::int64_t start, std::int64_t duration,
             KeptFacts facts = {}) {
    Event e;
    e.track = track, e.kind = kind, e.name = catalog.strings.intern(name);
    e.start_ns = start, e.duration_ns = duration;
    events.emplace_back(e, std::move(facts));
    return events.back().first;
  }
  TrackId stream(std::int64_t device = 0, std::int64_t id = 7) {
    return catalog.track(0, TrackKind::stream, device, id);
  }
  void run() {
    Overlay overlay(catalog, tracks);
    for (const auto& [event, facts] : events) overlay.event(event, facts);
    overlay.finish();
    notes = overlay.notes();
  }
  // "10:1.5 20:0"
  std::string values(DerivedTrack track, std::int64_t device = 0) {
    std::string text;
    for (const auto& item : tracks.of(track, device)) text += fmt::format("{}:{} ", item.start_ns, item.value);
    return text;
  }
  std::vector<std::string> notes;
};

}  // namespace

TEST_CASE("overlay: idle is between work of any stream of the device, not during waits") {
  Scene s;
  s.add(s.stream(), Kind::kernel, "gemm", 1000, 5000);
  s.add(s.stream(0, 20), Kind::memcpy, "Memcpy HtoD", 5000, 3000);
  s.add(s.stream(0, 9), Kind::sync, "Stream Sync", 8000, 90'000);  // is no work
  s.add(s.stream(), Kind::memset, "Memset (Device)", 8500, 500);   // 500 ns later: too short to draw
  s.add(s.stream(1), Kind::kernel, "of another device", 9000, 1);
  s.add(s.stream(), Kind::kernel, "gemm", 21'345, 0);  // of no length
  s.run();
  const auto& idle = s.tracks.of(DerivedTrack::idle);
  REQUIRE(idle.size() == 1);
  CHECK(idle[0].start_ns == 9000);
  CHECK(idle[0].duration_ns == 12'345);
  CHECK(idle[0].name == "idle 12.35 us");
  CHECK(idle[0].args == "\"ns\":12345,\"short_gaps\":1,\"short_gaps_ns\":500");
  CHECK(s.tracks.of(DerivedTrack::idle, 1).empty());
}

TEST_CASE("overlay: communication is exposed where no other kernel runs; copies hide nothing") {
  Scene s;
  s.add(s.stream(0, 20), Kind::kernel, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)", 1000, 9000);
  s.add(s.stream(), Kind::memcpy, "Memcpy HtoD", 1500, 100);
  s.add(s.stream(), Kind::kernel, "gemm", 3000, 1000);
  s.add(s.stream(0, 21), Kind::kernel, "ncclDevKernel_SendRecv(...)", 6000, 5000);
  s.add(s.stream(), Kind::graph, "CUDA graph 4", 10'500, 1000);
  s.run();
  const auto& exposed = s.tracks.of(DerivedTrack::exposed_comm);
  REQUIRE(exposed.size() == 2);
  CHECK(exposed[0].start_ns == 1000);
  CHECK(exposed[0].duration_ns == 2000);
  CHECK(exposed[1].start_ns == 4000);
  CHECK(exposed[1].duration_ns == 6500);
  CHECK(exposed[1].name == "exposed 6.500 us");
  CHECK(s.values(DerivedTrack::comm_in_flight) == "1000:1 6000:2 10000:1 11000:0 ");
}

TEST_CASE("overlay: copies that a call of NCCL launched are exposed communication") {
  Scene s;
  const TrackId thread = s.catalog.track(0, TrackKind::thread, 1, 1);
  s.add(thread, Kind::nccl, "ncclAllGather", 1000, 500);
  s.add(thread, Kind::runtime, "cudaMemcpyAsync", 1100, 100).correlation = 5;
  s.add(thread, Kind::runtime, "cudaMemcpyAsync", 1600, 100).correlation = 6;  // after it
  s.add(s.stream(0, 20), Kind::memcpy, "Memcpy PtoP", 2000, 300).correlation = 5;
  s.add(s.stream(), Kind::memcpy, "Memcpy PtoP", 2400, 300).correlation = 6;
  s.run();
  const auto& exposed = s.tracks.of(DerivedTrack::exposed_comm);
  REQUIRE(exposed.size() == 1);
  CHECK((exposed[0].start_ns == 2000 && exposed[0].duration_ns == 300));
  CHECK(s.values(DerivedTrack::comm_in_flight) == "2000:1 2300:0 ");
}

TEST_CASE("overlay: copies by direction, added up while they overlap") {
  Scene s;
  const auto copy = [&](std::string_view name, std::int64_t start, std::int64_t duration, std::uint64_t bytes) {
    Event& e = s.add(s.stream(), Kind::memcpy, name, start, duration);
    e.bytes = bytes, e.has_bytes = true;
  };
  copy("Memcpy HtoD (Pinned -> Device)", 1000, 100, 1000);  // 10 GB/s
  copy("Memcpy HtoD (Pageable -> Device)", 1050, 100, 500);
  copy("Memcpy HtoD (Pageable -> Device)", 1100, 0, 500);  // how fast is not known
  copy("Memcpy PtoP (Device -> Device)", 1100, 100, 5);
  s.run();
  CHECK(s.values(DerivedTrack::copy_h2d) == "1000:10 1050:15 1100:5 1150:0 ");
  CHECK(s.values(DerivedTrack::copy_peer) == "1100:0.05 1200:0 ");
  CHECK(s.values(DerivedTrack::copy_d2d).empty());
}

TEST_CASE("overlay: busy in percent of each window") {
  Scene s;
  s.add(s.stream(), Kind::kernel, "a", 50'000, 25'000);  // half of what is left of the first window
  s.add(s.stream(), Kind::kernel, "b", 100'000, 250'000);
  s.add(s.stream(0, 8), Kind::kernel, "beside b", 110'000, 10'000);
  s.add(s.stream(), Kind::kernel, "c", 1'000'000, 50'000);
  s.run();
  CHECK(s.values(DerivedTrack::busy) == "50000:50 100000:100 300000:50 400000:0 1000000:100 1050000:0 ");
}

TEST_CASE("overlay: the windows suit the length of the trace") {
  Catalog catalog;
  CHECK(busy_window_ns(catalog) == 100'000);
  Process p;
  p.first_ns = 1, p.last_ns = 1'000'000'001;
  catalog.add_process(p);
  CHECK(busy_window_ns(catalog) == 500'000);
  p.last_ns = 60'000'000'001;
  catalog.add_process(p);
  CHECK(busy_window_ns(catalog) == 50'000'000);
  p.last_ns = INT64_MAX;
  catalog.add_process(p);
  CHECK(busy_window_ns(catalog) > 0);
}

TEST_CASE("overlay: calls that launch, and those that do not") {
  for (const char* name :
       {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cudaGraphLaunch", "cudaMemcpy", "cudaMemcpyAsync",
        "cuMemcpyDtoDAsync_v2", "cudaMemsetAsync", "cuMemsetD32Async", "hipLaunchKernel", "hipExtModuleLaunchKernel"}) {
    CHECK(is_launch_name(name));
  }
  for (const char* name : {"cudaStreamSynchronize", "cudaMalloc", "cudaLaunchHostFunc", "cudaEventRecord"}) {
    CHECK_FALSE(is_launch_name(name));
  }
}

namespace {

AllocatorFacts allocator_facts(std::int32_t type, std::int64_t device, std::int64_t allocated, std::int64_t reserved) {
  return {.device_type = type,
          .device = device,
          .allocated_bytes = allocated,
          .reserved_bytes = reserved,
          .has = AllocatorFacts::kAllocated | AllocatorFacts::kReserved | AllocatorFacts::kDeviceId};
}

}  // namespace

TEST_CASE("overlay: memory as PyTorch's allocator counts it") {
  Scene s;
  const TrackId thread = s.catalog.track(0, TrackKind::thread, 1, 1);
  const auto says = [&](std::int64_t ns, const KeptFacts& facts) {
    s.add(thread, Kind::instant, "[memory]", ns, 0, facts).phase = 'i';
  };
  says(10, allocator_facts(1, 1, 512, 2097152));
  says(20, allocator_facts(0, -1, 64, 0));
  says(30, allocator_facts(1, 1, 0, 2097152));
  says(40, "\"Bytes\": 5");
  s.run();
  CHECK(s.values(DerivedTrack::allocated, 1) == "10:512 30:0 ");
  CHECK(s.values(DerivedTrack::reserved, 1) == "10:2097152 ");
  CHECK(s.values(DerivedTrack::allocated, -1) == "20:64 ");
  CHECK(s.values(DerivedTrack::reserved, -1).empty());
}

TEST_CASE("overlay: memory of a recording, only when all of it is known") {
  Scene s;
  const TrackId memory = s.catalog.track(0, TrackKind::other, 1, 1, "GPU 1 memory");
  const auto tells = [&](std::int64_t ns, std::uint8_t operation, std::uint8_t kind, std::uint64_t bytes) {
    MemoryFacts facts;
    facts.operation = operation, facts.memory = kind, facts.device = 1;
    Event& e = s.add(memory, Kind::memory, "any name", ns, 0, facts);
    e.phase = 'i', e.bytes = bytes, e.has_bytes = true;
  };
  constexpr std::uint8_t kAllocate = 1, kRelease = 2, kPinned = 2, kDevice = 3;
  tells(10, kAllocate, kDevice, 4096);
  tells(20, kAllocate, kPinned, 1);  // the host's
  tells(30, kAllocate, kDevice, 100);
  tells(40, kRelease, kDevice, 4096);
  s.run();
  CHECK(s.values(DerivedTrack::driver_memory, 1) == "10:4096 30:4196 40:100 ");
  CHECK(s.values(DerivedTrack::allocated, 1).empty());
  CHECK(s.notes.empty());
  s.tracks.tracks.clear();
  s.catalog.processes[0].rank = 3;
  s.catalog.processes[0].overwritten[static_cast<std::size_t>(Kind::memory)] = 1;
  s.run();
  CHECK(s.values(DerivedTrack::driver_memory, 1).empty());
  REQUIRE(s.notes.size() == 1);
  CHECK(s.notes[0] ==
        "rank 3: no track of memory that the driver allocated, because some allocations are not in the recording");
}

TEST_CASE("overlay: memory of the driver is not mixed with that of PyTorch's allocator") {
  Scene s;
  const TrackId memory = s.catalog.track(0, TrackKind::other, 1, 1, "GPU 1 memory");
  const TrackId thread = s.catalog.track(0, TrackKind::thread, 1, 1);
  MemoryFacts driver;
  driver.operation = 1, driver.memory = 3, driver.device = 1;
  Event& e = s.add(memory, Kind::memory, "any name", 10, 0, driver);
  e.phase = 'i', e.bytes = 2097152, e.has_bytes = true;
  s.add(thread, Kind::instant, "[memory]", 20, 0, allocator_facts(1, 1, 512, 2097152)).phase = 'i';
  s.run();
  CHECK(s.values(DerivedTrack::driver_memory, 1) == "10:2097152 ");
  CHECK(s.values(DerivedTrack::allocated, 1) == "20:512 ");
  CHECK(s.values(DerivedTrack::reserved, 1) == "20:2097152 ");
}

TEST_CASE("overlay: times and sizes of damaged files do no harm") {
  Scene s;
  s.add(s.stream(), Kind::kernel, "a", INT64_MIN, 5);
  s.add(s.stream(), Kind::kernel, "b", 0, INT64_MAX);
  Event& copy = s.add(s.stream(), Kind::memcpy, "Memcpy HtoD", 1, 1);
  copy.bytes = UINT64_MAX, copy.has_bytes = true;
  s.add(s.stream(), Kind::kernel, "c", INT64_MAX, INT64_MAX);
  s.add(s.stream(), Kind::kernel, "no end", INT64_MAX, kUnknownDuration);
  s.run();
  CHECK_FALSE(s.tracks.of(DerivedTrack::busy).empty());
}
