#include "cli/base/text.h"
#include "cli/commands/clock_report.h"
#include "cli/commands/info_text.h"
#include "tests/unit/catch.h"
#include "text_sink.h"

using namespace cli;
namespace {

Catalog sample() {
  Catalog catalog;
  Process known;
  known.rank = 3, known.host = "node \"a\"", known.pid = 42, known.state = RecordingState::recovered,
  known.source = "traces/x.ring";
  known.counts[static_cast<std::size_t>(Kind::kernel)] = 1000;
  known.counts[static_cast<std::size_t>(Kind::cpu_op)] = 7;
  known.overwritten[static_cast<std::size_t>(Kind::runtime)] = 50;
  known.lost[static_cast<std::size_t>(Kind::kernel)] = 2;
  known.lost_unknown_kind = 3;
  known.first_ns = 1'760'000'000'000'000'001, known.last_ns = 1'760'000'001'234'000'001;
  known.notes = {"12 blocks changed while they were read"};
  catalog.add_process(known);
  Process unknown;
  unknown.source = "y.json", unknown.format = SourceFormat::kineto;
  const ProcessId id = catalog.add_process(unknown);
  catalog.tracks[catalog.track(id, TrackKind::stream, 0, 7)].priority = -5;
  Launch plain, special;
  plain.grid[0] = 1;
  special.launch_type = 1, special.local_bytes_per_thread = 48;
  special.cluster[0] = 2, special.cluster[1] = 2, special.cluster[2] = 1;
  catalog.launches.intern(plain), catalog.launches.intern(special);
  return catalog;
}

}  // namespace

TEST_CASE("info --json: the contract") {
  TextSink sink;
  write_info_json(sample(), {}, {}, sink);
  CHECK(
      sink.text ==
      R"({"ranks":[{"rank":3,"host":"node \"a\"","pid":42,"source":"traces/x.ring","format":"ring","phase":"","rank_source":"",)"
      R"("local_rank":null,"world_size":null,"run_id":"","program":"","device":"","state":"recovered",)"
      R"("start_ns":1760000000000000001,"span_ns":1234000000,"counts":{"kernel":1000,"memcpy":0,"memset":0,)"
      R"("runtime":0,"driver":0,"nvtx":0,"nccl":0,"cpu_op":7},"overwritten":50,"overwritten_by_kind":{"runtime":50},)"
      R"("lost":5,"lost_by_kind":{"kernel":2},"lost_unknown_kind":3,)"
      R"("notes":["12 blocks changed while they were read"],)"
      R"("recorder":null,"devices":[],"communicators":[],"notices":[],"streams":[]},)"
      R"({"rank":null,"host":"","pid":null,"source":"y.json","format":"kineto","phase":"","rank_source":"","local_rank":null,)"
      R"("world_size":null,"run_id":"","program":"","device":"","state":"unknown","start_ns":0,"span_ns":0,)"
      R"("counts":{"kernel":0,"memcpy":0,"memset":0,"runtime":0,"driver":0,"nvtx":0,"nccl":0},"overwritten":0,)"
      R"("overwritten_by_kind":{},"lost":0,"lost_by_kind":{},"lost_unknown_kind":0,"notes":[],)"
      R"("recorder":null,"devices":[],"communicators":[],"notices":[],"streams":[{"device":0,"stream":7,"name":"","priority":-5}]}],)"
      R"("beside_ranks":[],"clocks":[],"launches":{"configurations":2,"cooperative":1,"clustered":1,"most_cluster_blocks":4,"most_local_bytes_per_thread":48},"notes":[]})"
      "\n");
}

TEST_CASE("info: people see losses, notes and what to do next") {
  const std::string text = info_text(sample(), {}, {"one note"}, {false, "a.ring b.ring"});
  CHECK_THAT(text, contains_text("rank  host") && contains_text("1.234 s") && contains_text("recovered"));
  CHECK_THAT(text, contains_text("rank 3: 50 runtime calls overwritten") && contains_text("TRACETOOL_BUFFER"));
  CHECK_THAT(text, contains_text("rank 3: 2 kernels lost"));
  CHECK_THAT(text, contains_text("3 records of unknown kind dropped by CUPTI"));
  CHECK_THAT(text, contains_text("12 blocks changed") && contains_text("other: 7 cpu_op"));
  CHECK_THAT(text, contains_text("note: one note"));
  CHECK_THAT(text,
             contains_text("kernels: 2 launch configurations, 1 cooperative, 1 in clusters of up to 4 blocks, local "
                           "memory of up to 48 bytes per thread\n"));
  CHECK_THAT(text, contains_text("\n   ?  -") && contains_text("--rank N=FILE"));
  CHECK_THAT(text, contains_text("next: tracetool merge a.ring b.ring"));
  CHECK_THAT(info_text(sample(), {}, {}, {false, "a/traces"}), contains_text("next: tracetool merge a/traces"));
  CHECK_THAT(info_text(sample(), {}, {}, {true, "a/b.ttrace"}), contains_text("next: tracetool open a/b.ttrace  # "));
}

TEST_CASE("info: durations keep the nanosecond") {
  CHECK(duration_text(0) == "0 ns");
  CHECK(duration_text(999) == "999 ns");
  CHECK(duration_text(1'000) == "1.000 us");
  CHECK(duration_text(1'001) == "1.001 us");
  CHECK(duration_text(99'994) == "99.99 us");
  CHECK(duration_text(99'995) == "100.0 us");
  CHECK(duration_text(999'999) == "1000 us");
  CHECK(duration_text(56'700'000) == "56.70 ms");
  CHECK(duration_text(12'345'000'000) == "12.35 s");
}

TEST_CASE("merge --report: null for what cannot be known") {
  ClockFit known{
      {-120, 7, 1.5}, "node-a", "b1", {0, 1}, 20, 3, -5, 6, "collectives", {{{-100, 50, 0}, 40, -85, {}, 4}}};
  ClockFit unknown;
  unknown.host = "node-b", unknown.method = "wall_clock";
  TextSink sink;
  write_clock_report({known, unknown}, sink);
  CHECK(
      sink.text ==
      R"({"hosts":[{"host":"node-a","boot_id":"b1","ranks":[0,1],"offset_ns":-120,"reference_ns":7,"drift_ppm":1.5,"samples":20,)"
      R"("mad_ns":3,"bound_ns":[-5,6],"method":"collectives",)"
      R"("later":[{"from_ns":40,"offset_ns":-100,"reference_ns":50,"drift_ppm":0,"bound_ns":[null,4]}]},)"
      R"({"host":"node-b","boot_id":"","ranks":[],"offset_ns":0,"reference_ns":0,"drift_ppm":0,"samples":0,"mad_ns":null,)"
      R"("bound_ns":[null,null],"method":"wall_clock","later":[]}]})"
      "\n");
}

TEST_CASE("info: how clocks are aligned, in a line") {
  Catalog catalog;
  Process process;
  process.host = "a", process.format = SourceFormat::ring;
  catalog.processes.push_back(process);
  CHECK(clocks_text(catalog, {}).empty());
  process.host = "b";
  catalog.processes.push_back(process);
  CHECK(clocks_text(catalog, {}) == "clocks: 2; merge aligns them by shared collectives");
  std::vector<ClockFit> fits(3);
  for (ClockFit& fit : fits) fit.method = "wall_clock";
  CHECK(clocks_text(catalog, fits) == "clocks: 3, not aligned: timestamps are host times");
  fits[0].method = "reference";
  fits[1].method = "collectives", fits[1].samples = 10, fits[1].offset_ns = -50, fits[1].bound_lo_ns = -1050,
  fits[1].bound_hi_ns = 1950;
  CHECK(clocks_text(catalog, fits) ==
        "clocks: 3; 1 aligned by collectives; maximum error 2.000 us; 1 not aligned (no shared collective)");
  fits[2] = fits[1], fits[2].bound_lo_ns.reset(), fits[2].later.push_back({});
  CHECK(
      clocks_text(catalog, fits) ==
      "clocks: 3; 2 aligned by collectives; maximum error 2.000 us; 1 without an error bound; 1 adjusted or changed rate during the run");
}
