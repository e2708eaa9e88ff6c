#include <set>

#include "cli/formats/export/lanes.h"
#include "cli/formats/export/shared_json.h"
#include "cli/trace/losses.h"
#include "small_trace.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

struct Rows {
  std::vector<ProcessLayout> processes;
  std::vector<TrackLayout> tracks;
};

Rows rows_of(SmallTrace& t) {
  Census census(t.catalog);
  for (const auto& [event, args] : t.events) census.count(event);
  Rows rows;
  rows.processes = process_layouts(t.catalog, census);
  rows.tracks = track_layouts(t.catalog, census, rows.processes);
  return rows;
}

}  // namespace

TEST_CASE("rows: process ids are unique, positive and follow the ranks") {
  SmallTrace t;
  for (const std::int64_t rank : {5, 0, -1, 5, 1023, -1}) t.add(t.thread(t.process(rank)), Kind::nvtx, "x", 0, 1);
  const Rows rows = rows_of(t);
  CHECK(rows.processes[1].pid == 1);
  CHECK(rows.processes[0].pid == 6);
  CHECK(rows.processes[4].pid == 1024);
  std::set<std::uint32_t> pids;
  for (const ProcessLayout& row : rows.processes) {
    CHECK(row.pid > 0);
    CHECK(pids.insert(row.pid).second);
  }
  CHECK(rows.processes[1].order == 0);
  CHECK(rows.processes[0].order == 1);
  CHECK(rows.processes[3].order == 2);
  CHECK(rows.processes[4].order == 3);
  CHECK(rows.processes[2].order > 3);
  CHECK(rows.processes[0].name == "rank 5 node1:NVIDIA H100");
  CHECK(rows.processes[3].name == "rank 5 pid 1005 node1:NVIDIA H100");
  CHECK(rows.processes[2].name == "worker node1:NVIDIA H100");
}

TEST_CASE("rows: a stream is NCCL's when at least half of its kernels are") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId compute = t.stream(p, 7), comm = t.stream(p, 20);
  for (const char* name : {"gemm", "gemm", "ncclDevKernel_AllGather_RING_LL(...)"})
    t.add(compute, Kind::kernel, name, 0, 1);
  for (const char* name : {"elementwise", "ncclKernel_AllReduce_RING_LL"}) t.add(comm, Kind::kernel, name, 0, 1);
  const Rows rows = rows_of(t);
  CHECK(rows.tracks[compute].name == "stream 7");
  CHECK(rows.tracks[comm].name == "stream 20 NCCL");
}

TEST_CASE("rows: names that an input gave are kept") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId named = t.track(p, TrackKind::stream, 0, 7, "stream 7 ");
  const TrackId waits = t.track(p, TrackKind::stream, 0, 1'000'007, "stream 7 (sync)");
  const TrackId other_stream = t.stream(p, 20);
  const TrackId thread = t.track(p, TrackKind::thread, 1, 99, "thread 99 (pt_autograd_0)");
  for (const TrackId id : {named, waits, other_stream, thread}) t.add(id, Kind::other, "x", 0, 1);
  const Rows rows = rows_of(t);
  CHECK(rows.tracks[named].name == "stream 7");
  CHECK(rows.tracks[waits].name == "stream 7 (sync)");
  CHECK(rows.tracks[thread].name == "thread 99 (pt_autograd_0)");
  CHECK(rows.tracks[thread].order < rows.tracks[named].order);
  CHECK(rows.tracks[named].order + 1 == rows.tracks[waits].order);
  CHECK(rows.tracks[waits].order + 1 == rows.tracks[other_stream].order);
}

TEST_CASE("losses in words and as JSON") {
  Process p;
  CHECK(loss_text(p).empty());
  CHECK(loss_json(p).empty());
  CHECK_FALSE(lost_everything(p));
  p.overwritten[static_cast<std::size_t>(Kind::kernel)] = 1'234'567;
  p.overwritten[static_cast<std::size_t>(Kind::driver)] = 1;
  CHECK(loss_text(p) == "1,234,567 kernels, 1 driver call overwritten");
  CHECK(loss_json(p) == ",\"overwritten\":{\"kernel\":1234567,\"driver\":1}");
  CHECK(lost_everything(p));
  p.counts[0] = 1;
  CHECK_FALSE(lost_everything(p));
  p.lost[static_cast<std::size_t>(Kind::sync)] = 999;
  p.lost_unknown_kind = 1;
  CHECK(
      loss_text(p) ==
      "1,234,567 kernels, 1 driver call overwritten; 999 sync events lost; 1 record of unknown kind dropped by CUPTI");
  p = {};
  p.recorder.stacks_left_out = 2'000;
  CHECK((loss_text(p) == "2,000 calls without a stack" && loss_json(p) == ",\"stacks_left_out\":2000"));
  p.recorder.operators_without_stack = 1, p.recorder.module_names_missed = 3;
  CHECK(loss_text(p) == "2,000 calls without a stack; 1 operator without a stack; 3 modules without a name");
  CHECK(loss_json(p) == ",\"stacks_left_out\":2000,\"operators_without_stack\":1,\"module_names_missed\":3");
}
