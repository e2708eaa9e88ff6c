#include <algorithm>

#include "../scratch.h"
#include "cli/error.h"
#include "merged_sample.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

std::vector<Collected> ordered(std::size_t count) {
  std::vector<Collected> events = random_events(count, 1, 1'000'000'000);
  std::stable_sort(events.begin(), events.end(),
                   [](const Collected& a, const Collected& b) { return a.event.start_ns < b.event.start_ns; });
  return events;
}

}  // namespace

TEST_CASE("merged file: all events come back, over many chunks, and again") {
  const Scratch scratch;
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{100'000}}) {
    const std::vector<Collected> events = ordered(count);
    write_merged(scratch.path("m.ttrace"), sample_catalog(), events);
    CHECK(is_merged_file(scratch.path("m.ttrace")));
    MergedReader reader(scratch.path("m.ttrace"));
    CHECK(reader.events() == count);
    Catalog catalog;
    reader.read_lists(catalog);
    for (int walk = 0; walk < 2; ++walk) {
      Collect out;
      reader.read_events(out);
      CHECK((out.all == events));
    }
  }
}

TEST_CASE("merged file: every field of the lists comes back") {
  const Scratch scratch;
  const Catalog in = sample_catalog();
  write_merged(scratch.path("m.ttrace"), in, {});
  Catalog out;
  MergedReader reader(scratch.path("m.ttrace"));
  reader.read_lists(out);

  REQUIRE(out.strings.size() == in.strings.size() + 0);
  for (StringId id = 0; id < in.strings.size(); ++id) CHECK(out.strings[id] == in.strings[id]);
  REQUIRE(out.processes.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const Process &a = in.processes[i], &b = out.processes[i];
    CHECK((std::tie(a.source, a.format, a.rank, a.local_rank, a.world_size, a.pid, a.rank_source, a.host, a.boot_id) ==
           std::tie(b.source, b.format, b.rank, b.local_rank, b.world_size, b.pid, b.rank_source, b.host, b.boot_id)));
    CHECK(
        (std::tie(a.run_id, a.program, a.device_name, a.state, a.counts, a.overwritten, a.lost, a.lost_unknown_kind) ==
         std::tie(b.run_id, b.program, b.device_name, b.state, b.counts, b.overwritten, b.lost, b.lost_unknown_kind)));
    CHECK((std::tie(a.first_ns, a.last_ns, a.explicit_flows, a.notes) ==
           std::tie(b.first_ns, b.last_ns, b.explicit_flows, b.notes)));
    CHECK((std::tie(a.recorder, a.devices, a.communicators, a.notices) ==
           std::tie(b.recorder, b.devices, b.communicators, b.notices)));
  }
  REQUIRE(out.tracks.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const Track &a = in.tracks[i], &b = out.tracks[i];
    CHECK((std::tie(a.process, a.kind, a.group, a.id, a.name, a.group_name, a.priority, a.kineto_row) ==
           std::tie(b.process, b.kind, b.group, b.id, b.name, b.group_name, b.priority, b.kineto_row)));
  }
  const std::vector<ClockFit> fits = sample_fits();
  REQUIRE(reader.fits().size() == fits.size());
  for (std::size_t i = 0; i < fits.size(); ++i) {
    const ClockFit &a = fits[i], &b = reader.fits()[i];
    CHECK((std::tie(a.host, a.boot_id, a.ranks, a.offset_ns, a.reference_ns, a.drift_ppm, a.samples, a.mad_ns,
                    a.bound_lo_ns, a.bound_hi_ns,
                    a.method) == std::tie(b.host, b.boot_id, b.ranks, b.offset_ns, b.reference_ns, b.drift_ppm,
                                          b.samples, b.mad_ns, b.bound_lo_ns, b.bound_hi_ns, b.method)));
  }
}

TEST_CASE("merged file: joins a catalogue that holds other traces") {
  const Scratch scratch;
  const std::vector<Collected> events = ordered(10);
  write_merged(scratch.path("m.ttrace"), sample_catalog(), events);
  Catalog catalog;
  catalog.strings.intern("other name");
  catalog.track(catalog.add_process({}), TrackKind::thread, 1, 1);
  Collect out;
  MergedReader(scratch.path("m.ttrace")).read(catalog, out);
  const Catalog before = sample_catalog();
  REQUIRE(catalog.processes.size() == 3);
  REQUIRE(out.all.size() == events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event &a = events[i].event, &b = out.all[i].event;
    CHECK(before.strings[a.name] == catalog.strings[b.name]);
    CHECK(catalog.tracks[b.track].process == before.tracks[a.track].process + 1);
    CHECK(catalog.tracks[b.track].id == before.tracks[a.track].id);
  }
}

TEST_CASE("merged file: what no reader would take is not written") {
  const Scratch scratch;
  OutputFile out(scratch.path("m.ttrace"));
  MergedWriter writer(out);
  Event event;
  event.start_ns = std::numeric_limits<std::int64_t>::max(), event.duration_ns = 1;
  CHECK_THROWS_WITH(writer.event(event, ""), contains_text("end of time"));
  CHECK_THROWS_WITH(writer.event({}, std::string(17 << 20, ' ')), contains_text("arguments"));
}
