#include <algorithm>
#include <functional>
#include <iterator>

#include "cli/base/error.h"
#include "cli/formats/ttrace/walk.h"
#include "cli/timeline/merge/merge_inputs.h"
#include "cli/trace/event_times.h"
#include "merged_sample.h"
#include "tests/case_step.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/scratch.h"

using namespace cli;
using namespace cli::ttrace;

namespace {

std::vector<Collected> ordered(std::size_t count) {
  std::vector<Collected> events = random_events(count, 1, 1'000'000'000);
  std::stable_sort(events.begin(), events.end(),
                   [](const Collected& a, const Collected& b) { return key_of(a.event, 0) < key_of(b.event, 0); });
  return events;
}

}  // namespace

TEST_CASE("merged file: all events come back, over many chunks, and again") {
  const Scratch scratch;
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, few(100'000)}) {
    const std::vector<Collected> events = ordered(count);
    write_merged(scratch.path("m.ttrace"), sample_catalog(), events);
    CHECK(is_merged_file(scratch.path("m.ttrace")));
    MergedReader reader(scratch.path("m.ttrace"));
    CHECK(reader.events() == count);
    Catalog catalog;
    reader.read_lists(catalog);
    for (int walk = 0; walk < 2; ++walk) {
      Collect out;
      reader.read_events(out, {});
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
    CHECK((std::tie(a.process, a.kind, a.group, a.id, a.name, a.group_name, a.priority, a.kineto_ids) ==
           std::tie(b.process, b.kind, b.group, b.id, b.name, b.group_name, b.priority, b.kineto_ids)));
  }
  const std::vector<ClockFit> fits = sample_fits();
  REQUIRE(reader.fits().size() == fits.size());
  for (std::size_t i = 0; i < fits.size(); ++i) {
    const ClockFit &a = fits[i], &b = reader.fits()[i];
    CHECK((std::tie(a.host, a.boot_id, a.ranks, a.offset_ns, a.reference_ns, a.drift_ppm, a.samples, a.mad_ns,
                    a.bound_lo_ns, a.bound_hi_ns,
                    a.method) == std::tie(b.host, b.boot_id, b.ranks, b.offset_ns, b.reference_ns, b.drift_ppm,
                                          b.samples, b.mad_ns, b.bound_lo_ns, b.bound_hi_ns, b.method)));
    REQUIRE(a.later.size() == b.later.size());
    for (std::size_t at = 0; at < a.later.size(); ++at) {
      const ClockPiece &one = a.later[at], &other = b.later[at];
      CHECK((std::tie(one.from_ns, one.offset_ns, one.reference_ns, one.drift_ppm, one.least_ns, one.bound_lo_ns,
                      one.bound_hi_ns) == std::tie(other.from_ns, other.offset_ns, other.reference_ns, other.drift_ppm,
                                                   other.least_ns, other.bound_lo_ns, other.bound_hi_ns)));
    }
  }
}

TEST_CASE("merged file: shapes come back, into a catalogue that has others") {
  const Scratch scratch;
  const std::vector<Collected> events = ordered(20'000);
  Catalog in = sample_catalog();
  write_shaped(scratch.path("m.ttrace"), in, events);
  MergedReader reader(scratch.path("m.ttrace"));
  for (const bool has_others : {false, true}) {
    struct Shaped : Collect {
      void event(const Event& event, const Facts& facts) override {
        with_shape += facts.shape != nullptr;
        Collect::event(event, facts);
      }
      std::size_t with_shape = 0;
    } out;
    Catalog catalog;
    if (has_others) catalog.shapes.intern("\"b\":\1,\"c\":\1");
    reader.read_lists(catalog);
    reader.read_events(out, {});
    const bool same = std::equal(out.all.begin(), out.all.end(), events.begin(), events.end(),
                                 [](const Collected& a, const Collected& b) { return a.facts.args == b.facts.args; });
    CHECK(same);
    CHECK(out.with_shape > 10'000);
    if (!has_others) CHECK((out.all == events));
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
  const Catalog catalog = sample_catalog();
  MergedWriter writer(out, catalog);
  Event event;
  event.start_ns = std::numeric_limits<std::int64_t>::max(), event.duration_ns = 1;
  CHECK_THROWS_WITH(writer.event(event, ""), contains_text("traces/rank0: ") && contains_text("largest timestamp"));
  CHECK_THROWS_WITH(writer.event({}, std::string(17 << 20, ' ')),
                    contains_text("traces/rank0: ") && contains_text("arguments"));
}

TEST_CASE("merged file: merged again without alignment, each process is at its own times") {
  const Scratch scratch;
  const std::vector<Collected> events = ordered(5'000);
  Catalog catalog = sample_catalog();
  catalog.processes[1].clock = 0;  // sample_fits()
  write_merged(scratch.path("m"), catalog, events);
  const std::vector<TraceInput> alone{{scratch.path("m"), std::nullopt}},
      two{{scratch.path("m"), std::nullopt}, {scratch.path("n"), 7}};
  for (const bool align : {true, false}) {
    OutputFile out(scratch.path("again"));
    merge_inputs(alone, {align, kDefaultMemory, scratch.folder()}, out);
    out.finish();
    Catalog back;
    MergedReader reader(scratch.path("again"));
    reader.read_lists(back);
    CHECK(reader.fits()[0].moves() == align);
    CHECK((reader.fits()[0].method == (align ? "collectives" : "wall_clock") &&
           reader.fits()[0].ranks == sample_fits()[0].ranks));
    Collect read;
    reader.read_events(read, {});
    CHECK((read.all == events) == !align);
    CHECK((back.processes[1].first_ns == catalog.processes[1].first_ns) == align);
  }
  MergeOptions each;
  each.clock_of_each_rank = true;
  OutputFile out(scratch.path("again"));
  CHECK_THROWS_WITH(merge_inputs(alone, each, out),
                    contains_text("--clock-domain rank: ") && contains_text("merge the recordings again"));
  MergeOptions apart;
  apart.align = false;
  CHECK_THROWS_WITH(merge_inputs(two, apart, out), contains_text("--no-align: ") && contains_text("only this file"));
}

namespace {

std::size_t process_of(const Event& event) { return event.track == 2 ? 1 : 0; }  // of sample_catalog()

std::vector<Collected> read_wanted(const std::string& path, const Wanted& wanted, NotRead& not_read) {
  Catalog catalog;
  MergedReader reader(path);
  reader.read_lists(catalog);
  Collect out;
  not_read = reader.read_events(out, wanted);
  return out.all;
}

std::vector<Collected> only(const std::vector<Collected>& events, const std::function<bool(const Event&)>& keep) {
  std::vector<Collected> some;
  std::copy_if(events.begin(), events.end(), std::back_inserter(some),
               [&](const Collected& e) { return keep(e.event); });
  return some;
}

}  // namespace

TEST_CASE("merged file: one rank alone is read, and the rest is counted") {
  const Scratch scratch;
  const std::vector<Collected> events = ordered(30'000);
  write_merged(scratch.path("m"), sample_catalog(), events);
  Wanted wanted;
  wanted.processes = {false, true};
  NotRead not_read;
  const auto read = read_wanted(scratch.path("m"), wanted, not_read);
  CHECK((read == only(events, [](const Event& e) { return process_of(e) == 1; })));
  CHECK(not_read.by_process == events.size() - read.size());
}

TEST_CASE("merged file: some time is read with the calls that launched its work, and with the work of its calls") {
  const Scratch scratch;
  // A call every 10 ns; its kernel starts 5,000 ns later and lasts 3.
  std::vector<Collected> events;
  for (std::int64_t i = 0; i < 10'000; ++i) {
    Collected call, kernel;
    call.event.kind = Kind::runtime, kernel.event.kind = Kind::kernel;
    call.event.track = 0, kernel.event.track = 1;
    call.event.correlation = kernel.event.correlation = static_cast<std::uint64_t>(i + 1);
    call.event.start_ns = i * 10, call.event.duration_ns = 2;
    kernel.event.start_ns = i * 10 + 5'000, kernel.event.duration_ns = 3;
    events.push_back(call), events.push_back(kernel);
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Collected& a, const Collected& b) { return key_of(a.event, 0) < key_of(b.event, 0); });
  write_merged(scratch.path("m"), sample_catalog(), events);
  Wanted wanted;
  wanted.times = {{{50'000, 51'000}}, {}};
  NotRead not_read;
  const auto read = read_wanted(scratch.path("m"), wanted, not_read);
  const auto count = [&](Kind kind, std::int64_t from_ns, std::int64_t to_ns) {
    return std::count_if(read.begin(), read.end(), [&](const Collected& e) {
      return e.event.kind == kind && e.event.start_ns >= from_ns && e.event.start_ns < to_ns;
    });
  };
  CHECK(count(Kind::runtime, 50'000, 51'000) == 100);
  CHECK(count(Kind::kernel, 55'000, 56'000) == 100);
  CHECK(count(Kind::kernel, 50'000, 51'000) == 100);
  CHECK(count(Kind::runtime, 45'000, 46'000) == 100);
  CHECK(read.size() + not_read.by_time == events.size());
  CHECK(not_read.by_time > events.size() / 2);
}

TEST_CASE("merged file: chunks without a wanted kind stay unread") {
  const Scratch scratch;
  const std::vector<Collected> events = ordered(30'000);
  write_merged(scratch.path("m"), sample_catalog(), events);
  Wanted wanted;
  wanted.kinds.emplace().set(static_cast<std::size_t>(Kind::flow));
  NotRead not_read;
  const auto read = read_wanted(scratch.path("m"), wanted, not_read);
  CHECK((read == only(events, [](const Event& e) { return e.kind == Kind::flow; })));
  CHECK(not_read.by_kind == events.size() - read.size());
}

TEST_CASE("merged file: a process lies on the axis as its clock says, and its own times stay its own") {
  const Scratch scratch;
  const std::vector<Collected> events = ordered(5'000);
  Catalog catalog = sample_catalog();
  catalog.processes[1].clock = 0;  // sample_fits()
  const ClockFit fit = sample_fits()[0];
  std::vector<ProcessSteps> steps(2);
  steps[1] = {"nvtx", 100, 900,      {{7, 200, 300, 250, 350, 62}}, {50, 4000, 5, 400}, {62, 90, 100, true}, true, 301,
              434,    3,   "forward"};
  write_merged(scratch.path("m"), catalog, events, steps);
  Catalog back;
  MergedReader reader(scratch.path("m"));
  reader.read_lists(back);
  REQUIRE(reader.steps().size() == 2);
  CHECK(reader.steps()[1].found_by == "nvtx");
  CHECK((reader.own_steps()[1].first_ns == 100 &&
         reader.own_steps()[1].steps == std::vector<Step>{{7, 200, 300, 250, 350, 62}}));
  CHECK((reader.own_steps()[1].period == KernelPeriod{62, 90, 100, true} &&
         reader.own_steps()[1].launches == LaunchShare{50, 4000, 5, 400} && reader.own_steps()[1].alike));
  CHECK((reader.own_steps()[1].repeated == 301 && reader.own_steps()[1].launched == 434));
  CHECK((reader.own_steps()[1].repeats == 3 && reader.own_steps()[1].repeats_within == "forward"));
  CHECK((reader.steps()[0].first_ns == 0 && reader.steps()[0].last_ns == 0));
  CHECK(reader.steps()[1].first_ns == fit.on_axis(100));
  CHECK(reader.steps()[1].last_ns == fit.on_axis(900));
  CHECK(reader.steps()[1].steps ==
        std::vector<Step>{{7, fit.on_axis(200), fit.on_axis(300), fit.on_axis(250), fit.on_axis(350), 62}});
  Collect axis, own;
  reader.read_events(axis, {});
  reader.read_own_times(own, {});
  CHECK(std::is_sorted(axis.all.begin(), axis.all.end(),
                       [](const Collected& a, const Collected& b) { return a.event.start_ns < b.event.start_ns; }));
  const auto second = [](const Event& e) { return process_of(e) == 1; };
  CHECK((only(own.all, second) == only(events, second)));
  std::vector<Collected> moved = only(events, second);
  for (Collected& e : moved) {
    const std::int64_t start_ns = fit.on_axis(e.event.start_ns);
    if (is_slice(e.event) && e.event.duration_ns > 0)
      e.event.duration_ns = fit.on_axis(e.event.start_ns + e.event.duration_ns) - start_ns;
    e.event.start_ns = start_ns;
  }
  CHECK((only(axis.all, second) == moved));
}
