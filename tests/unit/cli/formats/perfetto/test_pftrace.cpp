// One behaviour each, as text: tests/golden/pftrace_*.txt. The rules of the whole format are checked by
// tests/integration/pftrace.py on real traces.
#include <isa-l/igzip_lib.h>

#include <set>
#include <sstream>

#include "cli/base/zstd_codec.h"
#include "cli/formats/perfetto/pftrace.h"
#include "pftrace_text.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/export/golden.h"
#include "tests/unit/cli/formats/export/small_trace.h"

using namespace cli;

namespace {

std::string native(SmallTrace& t, PacketCompression compression = PacketCompression::none, bool gpu_tracks = false) {
  return t.write(make_pftrace({compression, gpu_tracks}));
}

void golden_pftrace(const std::string& name, SmallTrace& t, bool gpu_tracks = false) {
  golden::compare("pftrace_" + name + ".txt", pftrace_text::Text().of(native(t, PacketCompression::none, gpu_tracks)));
  CHECK(t.summary.balanced());
}

SmallTrace launches() {
  SmallTrace t;
  const ProcessId p = t.process(3);
  const TrackId thread = t.thread(p), stream = t.stream(p);
  t.add(thread, Kind::runtime, "cudaLaunchKernel", kOrigin, 100, 1);
  t.add(stream, Kind::kernel, "void at::native::add<float>(int)", kOrigin + 50, 200, 1,
        R"("grid": [288, 1, 1], "block": [128, 1, 1], "device": 0)");
  t.add(thread, Kind::runtime, "cudaGraphLaunch", kOrigin + 200, 50, 2);
  t.add(stream, Kind::kernel, "first of the graph", kOrigin + 300, 20, 2);
  t.add(stream, Kind::kernel, "second of the graph", kOrigin + 320, 20, 2);
  t.add(stream, Kind::memcpy, "before its launch", kOrigin + 340, 5, 3);
  t.add(thread, Kind::runtime, "cudaMemcpyAsync", kOrigin + 342, 8, 3);
  return t;
}

// The only chunk of a compressed trace: the content of field `field` of its packet.
std::string chunk(const std::string& trace, std::uint32_t field) {
  protozero::pbf_reader packets(trace);
  REQUIRE(packets.next(1));
  protozero::pbf_reader packet = packets.get_message();
  REQUIRE(packet.next(field));
  const std::string inside = packet.get_bytes();
  REQUIRE_FALSE(packets.next());
  return inside;
}

}  // namespace

TEST_CASE("pftrace: nothing is a valid picture of nothing") {
  SmallTrace t;
  golden_pftrace("empty", t);
}

TEST_CASE("pftrace: arrows, one for each work of a graph, to what ran before its launch too") {
  SmallTrace t = launches();
  golden_pftrace("arrows", t);
  CHECK(t.summary.flows_out == 4);
  CHECK(t.summary.backward_flows == 1);
}

TEST_CASE("pftrace: GPU work as render stages that their launches submit") {
  SmallTrace t = launches();
  golden_pftrace("gpu_tracks", t, true);
  CHECK(t.summary.flows_out == 4);
}

TEST_CASE("pftrace: launches of processes never submit the same stage, also when each process has its own file") {
  std::set<std::string> submitted;
  std::size_t launches = 0;
  for (const std::size_t written : {0, 1, 2}) {
    SmallTrace t;
    for (std::size_t rank = 0; rank < 3; ++rank) {
      const ProcessId p = t.process(static_cast<std::int64_t>(rank));
      const TrackId thread = t.thread(p), stream = t.stream(p);
      if (rank != written) continue;
      t.add(thread, Kind::runtime, "cudaGraphLaunch", kOrigin, 50, 1);
      for (const int node : {1, 2, 3}) t.add(stream, Kind::kernel, "node", kOrigin + 100 * node, 20, 1);
    }
    std::istringstream words(pftrace_text::Text().of(native(t, PacketCompression::none, true)));
    for (std::string word; words >> word;) {
      if (word == "submits" && words >> word) ++launches, submitted.insert(word);
    }
  }
  CHECK(launches == 9);
  CHECK(submitted.size() == launches);
}

TEST_CASE("pftrace: overlaps get lanes of their own; ends come before begins") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId stream = t.stream(p), thread = t.thread(p);
  t.add(stream, Kind::kernel, "first", kOrigin, 100);
  t.add(stream, Kind::kernel, "starts before the first ends", kOrigin + 90, 100);
  t.add(stream, Kind::kernel, "starts when the first ends", kOrigin + 100, 10);
  t.add(thread, Kind::nvtx, "outer", kOrigin, 100);
  t.add(thread, Kind::nvtx, "inner, to the same end", kOrigin + 10, 90);
  t.add(thread, Kind::nvtx, "of no length", kOrigin + 10, 0);
  t.add(thread, Kind::nvtx, "a range that does not nest", kOrigin + 50, 100);
  t.add(thread, Kind::nvtx, "without an end", kOrigin + 120, kUnknownDuration);
  golden_pftrace("lanes", t);
  CHECK(t.summary.extra_lanes == 2);
}

TEST_CASE("pftrace: flow events of the input are on the slice that they mean") {
  SmallTrace t;
  const ProcessId p = t.process(0, true);
  const TrackId thread = t.thread(p), stream = t.stream(p);
  t.add(thread, Kind::cpu_op, "around", kOrigin, 100);
  t.add(thread, Kind::runtime, "launch", kOrigin, 40, 9);
  t.point(thread, Kind::flow, 's', "ac2g", kOrigin, 9);
  t.point(thread, Kind::flow, 's', "fwdbwd", kOrigin + 20, 1);
  t.add(stream, Kind::kernel, "kernel", kOrigin + 60, 10, 9);
  t.point(stream, Kind::flow, 'f', "ac2g", kOrigin + 60, 9);
  t.add(thread, Kind::cpu_op, "backward", kOrigin + 200, 10);
  t.point(thread, Kind::flow, 'f', "fwdbwd", kOrigin + 205, 1);
  t.point(thread, Kind::flow, 's', "ac2g", kOrigin + 205, 10);
  t.point(thread, Kind::flow, 'f', "ac2g", kOrigin + 400, 11);
  golden_pftrace("flows", t);
  CHECK(t.summary.flows_out == 2);
  CHECK(t.summary.one_ended_flows == 1);
  CHECK(t.summary.unplaced_flows == 1);
}

TEST_CASE("pftrace: arrows from the call that recorded an event to each wait for it") {
  for (const bool gpu_tracks : {false, true}) {
    SmallTrace t;
    const ProcessId p = t.process(0);
    const TrackId thread = t.thread(p), stream = t.stream(p);
    t.add(thread, Kind::runtime, "cudaEventRecord", kOrigin, 10, 1);
    for (const int correlation : {2, 3}) {
      t.add(stream, Kind::sync, "Stream Wait Event", kOrigin + 10 * correlation, 5,
            static_cast<std::uint64_t>(correlation), wait_for_event(1));
    }
    t.add(stream, Kind::sync, "Stream Wait Event", kOrigin + 40, 5, 4, wait_for_event());
    FormatOptions options;
    options.gpu_tracks = gpu_tracks;
    t.write(make_pftrace(options));
    CHECK(t.summary.flows_out == 2);
    CHECK(t.summary.backward_flows == 0);
  }
}

TEST_CASE("pftrace: a render stage has one arrow, from whatever slice; the others are counted as not drawn") {
  SmallTrace t;
  const ProcessId p = t.process(0, true);
  const TrackId thread = t.thread(p), stream = t.stream(p);
  t.add(thread, Kind::cpu_op, "no API call", kOrigin, 100);
  t.point(thread, Kind::flow, 's', "ac2g", kOrigin + 20, 1);
  t.point(thread, Kind::flow, 's', "another", kOrigin + 30, 1);
  t.point(thread, Kind::flow, 's', "late", kOrigin + 40, 1);
  t.add(stream, Kind::kernel, "kernel", kOrigin + 60, 10, 9);
  t.point(stream, Kind::flow, 'f', "ac2g", kOrigin + 60, 1);
  t.point(stream, Kind::flow, 'f', "another", kOrigin + 60, 1);
  t.point(stream, Kind::flow, 's', "from here", kOrigin + 60, 1);
  t.point(stream, Kind::flow, 'f', "late", kOrigin + 65, 1);
  t.add(thread, Kind::cpu_op, "end of what cannot begin", kOrigin + 200, 10);
  t.point(thread, Kind::flow, 'f', "from here", kOrigin + 200, 1);
  golden_pftrace("stage_flows", t, true);
  CHECK(t.summary.flows_out == 1);
  CHECK(t.summary.flow_events_drawn == 2);
  CHECK(t.summary.undrawable_flows == 3);
  CHECK(t.summary.one_ended_flows == 3);
}

TEST_CASE("pftrace: instants, counters of the input, and what holds no number") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId thread = t.thread(p);
  t.add(thread, Kind::nvtx, "range", kOrigin, 100);
  t.point(thread, Kind::instant, 'i', "mark", kOrigin + 10);
  t.point(thread, Kind::counter, 'C', "memory", kOrigin + 20, 0, R"("allocated": 5, "part": 0.25, "what": "text")");
  t.point(thread, Kind::counter, 'C', "memory", kOrigin + 30, 0, R"("allocated": 7)");
  t.point(thread, Kind::counter, 'C', "no number", kOrigin + 40, 0, R"("what": "text")");
  golden_pftrace("points", t);
  CHECK(t.summary.counters_out == 2);
  CHECK(t.summary.instants_out == 2);
}

TEST_CASE("pftrace: what is computed has rows of its own") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId stream = t.stream(p);
  t.add(stream, Kind::kernel, "first", kOrigin, 1000);
  t.add(stream, Kind::kernel, "second", kOrigin + 50'000, 1000);
  t.computed = {DerivedTrack::idle, DerivedTrack::busy};
  golden_pftrace("computed", t);
  CHECK(t.summary.derived_slices == 1);
}

TEST_CASE("pftrace: computed rows before the first event, from the origin on") {
  SmallTrace t;
  const TrackId stream = t.stream(t.process(0));
  const Event& kernel = t.add(stream, Kind::kernel, "gemm", 3000, 100);
  StringSink sink;
  const auto exporter = make_pftrace({PacketCompression::none});
  exporter->origin(1000);
  exporter->begin(t.catalog, sink);
  exporter->prepare(kernel, "");
  exporter->derived({0, DerivedTrack::idle, 0, 10, 20, 0, idle(20)});
  exporter->derived({0, DerivedTrack::idle, 0, 500, 600, 0, idle(600)});
  exporter->derived({0, DerivedTrack::idle, 0, 1200, 50, 0, idle(50)});
  exporter->derived({0, DerivedTrack::queue_length, 0, 10, 0, 3, {}});
  exporter->derived({0, DerivedTrack::queue_length, 0, 2000, 0, 4, {}});
  exporter->event(kernel, "");
  const ExportSummary summary = exporter->finish();
  CHECK(summary.derived_slices == 2);
  CHECK(summary.derived_values == 2);
  const std::string text = pftrace_text::Text().of(sink.text);
  for (const char* line : {": +0 begin computed 'idle 600 ns'", ": +100 end", ": +200 begin computed 'idle 50 ns'",
                           ": +250 end", ": +0 value 3", ": +1000 value 4", ": +2000 begin kernel 'gemm'"}) {
    CAPTURE(line, text);
    CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("pftrace: arguments that came before, that only begin alike, that stand elsewhere") {
  SmallTrace t;
  const ProcessId p = t.process(0);
  const TrackId thread = t.thread(p), stream = t.stream(p);
  std::int64_t at = kOrigin;
  for (const char* const args : {R"("id": 1, "s": "x", "grid": [8, 1])", R"("id": 23, "s": "x", "grid": [8, 1])",
                                 R"("id": 2.5, "s": "xy", "grid": [8, 1, 1])", R"("id": -1,"s" : "x","grid": [8, 1])",
                                 R"("id": 18446744073709551616, "s": "")", R"("s": "x", "id": 3)", R"("id": 4})", "",
                                 R"("id": 5)", R"("id": "5", "s": null)"}) {
    for (const TrackId track : {thread, stream})
      t.add(track, Kind::memset, "set", at, 1, 0, args).json.args_complete = true;
    at += 10;
  }
  golden_pftrace("arguments", t);
}

TEST_CASE("pftrace: more members than are remembered, and longer ones", "[slow]") {
  SmallTrace t;
  const TrackId thread = t.thread(t.process(0));
  const std::string text(5000, 'x');
  for (int i = 0; i < 40'000; ++i) {
    const int n = i % 20'000;
    const std::string args = fmt::format(R"("id": {}, "text": "{}", "n": {}.5, "last": [{}])", i, n, n, n % 3);
    t.add(thread, Kind::cpu_op, "op", kOrigin + i, 1, 0, n == 19'999 ? args + ", \"long\": \"" + text + '"' : args);
  }
  const std::string shown = pftrace_text::Text().of(native(t));
  for (const int i : {0, 1, 16'383, 16'384, 19'999, 20'000, 39'998, 39'999}) {
    const int n = i % 20'000;
    INFO(i);
    CHECK(shown.find(fmt::format("op' id={} text='{}' n={}.5 last='[{}]'{}\n", i, n, n, n % 3,
                                 n == 19'999 ? " long=\"" + text + '"' : "")) != shown.npos);
  }
}

TEST_CASE("pftrace: hostile names stay valid UTF-8") {
  SmallTrace t;
  const TrackId thread = t.thread(t.process(0));
  t.add(thread, Kind::nvtx, "bad \xff\xc0 bytes", kOrigin, 1, 0, R"("key \" quoted": "tab\t\u20ac")");
  t.add(thread, Kind::nvtx, std::string_view("nul \0 within", 12), kOrigin + 5, 1);
  golden_pftrace("hostile_names", t);
}

TEST_CASE("pftrace: packets are the same, deflated, with zstd and bare") {
  SmallTrace t = launches();
  const std::string bare = native(t), deflated = chunk(native(t, PacketCompression::deflate), 50);
  std::string inflated(bare.size() + 1, '\0'), opened;
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_ZLIB;
  state.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(deflated.data()));
  state.avail_in = static_cast<std::uint32_t>(deflated.size());
  state.next_out = reinterpret_cast<std::uint8_t*>(inflated.data());
  state.avail_out = static_cast<std::uint32_t>(inflated.size());
  REQUIRE(isal_inflate(&state) == ISAL_DECOMP_OK);
  inflated.resize(state.total_out);
  CHECK(inflated == bare);
  ZstdDecompressor zstd;
  REQUIRE(zstd.decompress(chunk(native(t, PacketCompression::zstd), 133), bare.size(), opened));
  CHECK(opened == bare);
}
