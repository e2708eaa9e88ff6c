#include "cli/commands/dump_events.h"
#include "tests/unit/catch.h"
#include "text_sink.h"

using namespace cli;

TEST_CASE("dump: one line per event, whatever is in its name") {
  Catalog catalog;
  const TrackId track = catalog.track(catalog.add_process({}), TrackKind::stream, 0, 7);
  TextSink sink;
  DumpEvents dump(catalog, sink);
  Event event;
  event.start_ns = 12, event.duration_ns = 34, event.track = track, event.kind = Kind::memcpy;
  event.name = catalog.strings.intern("Memcpy\nHtoD");
  event.bytes = 4096, event.has_bytes = true, event.correlation = 5;
  dump.event(event, "\"x\":1");
  event.has_bytes = false, event.correlation = 0, event.duration_ns = kUnknownDuration, event.open_start = true;
  dump.event(event, "");
  dump.flush();
  CHECK(sink.text ==
        "12 34 X memcpy rank ?, device 0 stream 7: Memcpy\\nHtoD correlation=5 bytes=4096 args={\"x\":1}\n"
        "12 -1 X memcpy rank ?, device 0 stream 7: Memcpy\\nHtoD open_start=true\n");
}

TEST_CASE("dump: facts by their names, those of launches and texts among them") {
  Catalog catalog;
  const TrackId track = catalog.track(catalog.add_process({}), TrackKind::stream, 0, 7);
  TextSink sink;
  DumpEvents dump(catalog, sink);
  Event event;
  event.kind = Kind::kernel, event.track = track, event.name = catalog.strings.intern("gemm");
  catalog.tracks[track].priority = -5;
  Launch launch;
  launch.grid[0] = 4, launch.block[0] = 128, launch.launch_type = 1;
  KernelFacts kernel;
  kernel.launch = catalog.launches.intern(launch), kernel.context = 3;
  dump.event(event, kernel);
  RangeFacts range;
  range.has_domain = true, range.domain = catalog.strings.intern("my \"domain\""), range.color_argb = 0xff00ff00;
  event.kind = Kind::nvtx;
  dump.event(event, range);
  dump.flush();
  CHECK(
      sink.text ==
      "0 0 X kernel rank ?, device 0 stream 7: gemm priority=-5 grid_x=4 grid_y=0 grid_z=0 block_x=128 block_y=0 block_z=0 "
      "registers_per_thread=0 shared_bytes=0 launch_type=1 context=3\n"
      "0 0 X nvtx rank ?, device 0 stream 7: gemm domain=\"my \\\"domain\\\"\" color_argb=0xff00ff00\n");
}
