// The causes of idle time, on worked examples (docs/tables.md).
#include <string>
#include <vector>

#include "cli/answers/tables/device_gaps.h"
#include "cli/trace/event_times.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

constexpr std::int64_t us = 1000;

// One process, whose calls and work are told in the order of time.
class Told {
 public:
  Told() { catalog_.add_process({}); }

  void call(const char* name, std::int64_t start_us, std::int64_t end_us, std::int64_t thread = 1) {
    Event event;
    event.kind = Kind::runtime;
    event.name = catalog_.strings.intern(name);
    event.track = catalog_.track(0, TrackKind::thread, 1, thread);
    event.start_ns = start_us * us;
    event.duration_ns = (end_us - start_us) * us;
    last_ = {event.track, event.name, event.start_ns, end_us * us};
    gaps_.event(event, 0);
  }
  // What was launched by that call, or (`known` false) by one that is not in the trace. "sync 10 launch 4": the gap's parts, in us.
  std::string work(LaunchCall launch, std::int64_t start_us, std::int64_t end_us, Kind kind = Kind::kernel,
                   const Facts& facts = {}, bool known = true) {
    GpuWork work;
    work.device = 0;
    work.start_ns = start_us * us;
    work.end_ns = end_us * us;
    work.kind = kind;
    work.facts = &facts;
    work.call = known ? &launch : nullptr;
    const auto gap = gaps_.work(work, wait_);
    return gap ? text(*gap) : "";
  }
  const LaunchCall& last() const { return last_; }
  const std::optional<HostWait>& wait() const { return wait_; }
  std::string rest() { return text(gaps_.rest(0).front()); }

 private:
  static std::string text(const DeviceGap& gap) {
    std::string text;
    for (std::size_t i = 0; i < gap.part_count; ++i) {
      const auto& part = gap.parts[i];
      const bool is_first = part.from_ns == kEarliest_ns, is_last = part.to_ns == kLatest_ns;
      text += (i == 0 ? "" : " ") + std::string(kIdleCauseNames[static_cast<std::size_t>(part.cause)]) +
              (is_first || is_last ? std::string() : " " + std::to_string((part.to_ns - part.from_ns) / us));
    }
    return text;
  }

  Catalog catalog_;
  LaunchCall last_;
  std::optional<HostWait> wait_;
  DeviceGaps gaps_{catalog_};
};

}  // namespace

TEST_CASE("device gaps: a host that is late, its call, and what is left") {
  Told told;
  told.call("cudaLaunchKernel", 0, 4);
  CHECK(told.work(told.last(), 10, 110) == "host_late launch 4 queued 6");
  told.call("cudaLaunchKernel", 200, 204);
  CHECK(told.work(told.last(), 210, 220) == "host_late 90 launch 4 queued 6");
  told.call("cudaLaunchKernel", 215, 219);
  CHECK(told.work(told.last(), 222, 230) == "queued 2");
  CHECK(told.work(told.last(), 230, 240).empty());
  CHECK(told.work(told.last(), 235, 238).empty());
  CHECK(told.work(told.last(), 241, 250) == "queued 1");  // from the end of the longest, not of the last
  CHECK(told.rest() == "unexplained");
}

TEST_CASE("device gaps: one launch after the other, up to 30 us apart") {
  for (const std::int64_t pause_us : {30, 31}) {
    Told told;
    told.call("cudaLaunchKernel", 0, 4);
    told.work(told.last(), 5, 6);
    told.call("cudaStreamIsCapturing", 8, 9);  // launches nothing
    told.call("cudaLaunchKernel", 4 + pause_us, 10 + pause_us);
    CHECK(told.work(told.last(), 12 + pause_us, 60) ==
          (pause_us == 30 ? "launch 28 launch 6 queued 2" : "host_late 29 launch 6 queued 2"));
  }
}

TEST_CASE("device gaps: the launch before is that of the same thread") {
  Told told;
  told.call("cudaLaunchKernel", 0, 4, 1);
  told.work(told.last(), 5, 6);
  told.call("cudaLaunchKernel", 10, 14, 2);
  CHECK(told.work(told.last(), 15, 16) == "host_late 4 launch 4 queued 1");
}

TEST_CASE("device gaps: launched long before and not begun is not explained") {
  for (const std::int64_t late_us : {30, 31}) {
    Told told;
    told.call("cudaLaunchKernel", 0, 4);
    told.work(told.last(), 5, 100);
    told.call("cudaLaunchKernel", 6, 10);
    CHECK(told.work(told.last(), 100 + late_us, 200) == (late_us == 30 ? "queued 30" : "unexplained 31"));
  }
}

TEST_CASE("device gaps: nothing is known of work whose call is not in the trace") {
  Told told;
  told.call("cudaLaunchKernel", 0, 4);
  told.work(told.last(), 5, 10);
  CHECK(told.work({}, 12, 20, Kind::kernel, {}, false) == "unexplained 2");
}

TEST_CASE("device gaps: a synchronization in which the host was, of any thread") {
  Told told;
  told.call("cudaLaunchKernel", 0, 4, 1);
  told.work(told.last(), 10, 110);
  told.call("cudaStreamSynchronize", 20, 170, 1);
  told.call("cudaLaunchKernel", 200, 204, 2);
  CHECK(told.work(told.last(), 210, 220) == "sync 60 after_sync 30 launch 4 queued 6");
  told.call("cudaDeviceSynchronize", 221, 222);  // the device was idle before
  told.call("cudaEventSynchronize", 212, 400);   // lasts beyond the next launch
  told.call("cudaLaunchKernel", 300, 304, 3);
  CHECK(told.work(told.last(), 310, 320) == "host_late 80 launch 4 queued 6");
}

TEST_CASE("device gaps: of several synchronizations the one that ended last; one within another is none") {
  Told told;
  told.call("cudaLaunchKernel", 0, 4);
  told.work(told.last(), 10, 110);
  told.call("cudaStreamSynchronize", 20, 120, 1);
  told.call("cuStreamSynchronize", 21, 119, 1);
  told.call("cudaStreamSynchronize", 30, 130, 2);
  told.call("cudaLaunchKernel", 140, 144, 1);
  CHECK(told.work(told.last(), 150, 160) == "sync 20 after_sync 10 launch 4 queued 6");
}

TEST_CASE("device gaps: a copy through pageable memory is a synchronization, if its call outlasts it") {
  for (const bool is_pageable : {true, false}) {
    for (const std::int64_t end_us : {25, 19}) {
      Told told;
      CopyFacts copy;
      copy.from_memory = 3;
      copy.to_memory = is_pageable ? 1 : 2;
      told.call("cudaMemcpyAsync", 10, end_us);
      told.work(told.last(), 15, 20, Kind::memcpy, copy);
      const bool waits = is_pageable && end_us == 25;
      CHECK(told.wait().has_value() == waits);
      told.call("cudaLaunchKernel", 70, 74);
      CHECK(told.work(told.last(), 75, 80) ==
            (waits ? "copy 5 after_sync 10 host_late 35 launch 4 queued 1" : "host_late 50 launch 4 queued 1"));
    }
  }
}

TEST_CASE("device gaps: the call of a copy that blocks, or goes through pageable memory, is a wait for that copy") {
  for (const char* name : {"cudaMemcpy", "cudaMemcpyAsync"}) {
    for (const std::uint8_t memory : {1, 2}) {
      Told told;
      CopyFacts copy;
      copy.from_memory = memory, copy.to_memory = 3;
      told.call("cudaLaunchKernel", 0, 4);
      told.work(told.last(), 5, 10);
      told.call(name, 30, 80);
      const bool blocks = memory == 1 || std::string(name) == "cudaMemcpy";
      CHECK(told.work(told.last(), 70, 90, Kind::memcpy, copy) ==
            (blocks ? "launch 20 copy 40" : "launch 20 launch 40"));
    }
  }
}

TEST_CASE("device gaps: what of a gap lies between two moments") {
  DeviceGap gap;
  gap.parts = {DeviceGap::Part{IdleCause::host_late, kEarliest_ns, 50},
               {IdleCause::launch, 50, 60},
               {IdleCause::queued, 60, 90},
               {}};
  gap.part_count = 3;
  CHECK(gap.times(40, 70) == IdleTimes{0, 0, 0, 10, 10, 10, 0});
  CHECK(gap.times(kEarliest_ns, 50)[3] == 50 - kEarliest_ns);
}
