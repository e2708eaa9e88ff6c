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
        "12 34 X memcpy rank ?, device 0 stream 7: Memcpy HtoD correlation=5 bytes=4096 {\"x\":1}\n"
        "12 -1 X memcpy rank ?, device 0 stream 7: Memcpy HtoD (began earlier) {}\n");
}
