// The timeline of a report: which time it shows, what it keeps of it, how it is written.
#include <algorithm>
#include <array>
#include <random>

#include "cli/base/error.h"
#include "cli/show/report/timeline.h"
#include "cli/show/report/timeline_slices.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/answers/rules/made_profile.h"

using namespace cli;
using namespace cli::report;

namespace {

void analyze_made(const std::vector<const MadeProfile*>& ranks, const TablesObserverEntry& observer,
                  const Selection& selection = {}) {
  AnalysisRequest analysis;
  analysis.selection = selection;
  analysis.observers.push_back(observer);
  const TestFolder folder;
  std::vector<TraceInput> inputs;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    inputs.push_back(
        {folder.write("rank" + std::to_string(rank) + ".json", ranks[rank]->text(static_cast<std::int64_t>(rank))),
         std::nullopt});
  }
  MergeOptions options;
  options.choice = analyzed_events({}, analysis.observers.front().needs.kinds);
  options.own_times = true;
  options.scratch_directory = folder.path().string();
  const auto trace = order_traces(inputs, options);
  const FoundFacts facts = find_facts(*trace);
  analyze(*trace, facts.facts, facts.steps_found, analysis);
}

TimelineSection timeline_of(const std::vector<const MadeProfile*>& ranks, const TimelineRequest& request = {},
                            const Selection& selection = {}) {
  TimelineSection section;
  analyze_made(ranks, timeline_observer(request, section), selection);
  return section;
}

class NoObserver : public TablesObserver {
  void finish(const std::vector<ResultTable>&) override {}
};

// What stands behind this key of the section's data, up to the next key or the end of the list.
std::string data_of(const TimelineSection& section, std::string_view key) {
  const std::size_t data = section.html.find("timeline-data"),
                    at = section.html.find('"' + std::string(key) + "\":", data);
  if (at == std::string::npos) return "none";
  const std::size_t from = at + key.size() + 3;
  int depth = 0;
  for (std::size_t i = from; i < section.html.size(); ++i) {
    const char c = section.html[i];
    if (c == '[') ++depth;
    if (c == ']' && --depth < 0) return section.html.substr(from, i - from);
    if (depth == 0 && (c == ',' || c == '}')) return section.html.substr(from, i - from);
  }
  return "no end";
}

// Steps of 100, 300, 200 and 5,000 us, each with one kernel.
MadeProfile four_steps() {
  MadeProfile made;
  double at = 1000;
  std::int64_t number = 4;
  for (const double length : {100.0, 300.0, 200.0, 5000.0}) {
    made.step(number++, at, at + length);
    made.kernel("work", at + 10, at + length - 10, made.call("cudaLaunchKernel", at + 1, at + 3));
    at += length;
  }
  return made;
}

}  // namespace

TEST_CASE("the timeline shows the step of median length, or the one that is asked for", "[timeline]") {
  const MadeProfile made = four_steps();
  const TimelineSection median = timeline_of({&made});
  CHECK(data_of(median, "step") == "6");
  CHECK(data_of(median, "start") == "390000");
  CHECK(data_of(median, "length") == "200000");
  CHECK(data_of(timeline_of({&made}, {4, {}, {}}), "length") == "90000");
  Selection selection;
  selection.steps = NumberRanges("--steps", "4-5");
  CHECK(data_of(timeline_of({&made}, {}, selection), "step") == "4");
  CHECK_THROWS_WITH(timeline_of({&made}, {9, {}, {}}), "--step 9: there is no step 9; there are 4-7");
  CHECK_THROWS_WITH(timeline_of({&made}, {6, {}, {}}, selection), "--step 6: there is no step 6; there are 4-5");
}

TEST_CASE("a step lasts from its first start to its last end on the GPU of any rank", "[timeline]") {
  MadeProfile first = four_steps(), second;
  second.step(6, 1350, 1650);
  second.kernel("work", 1400, 1640, second.call("cudaLaunchKernel", 1360, 1370));
  const TimelineSection section = timeline_of({&first, &second}, {6, {}, {}});
  CHECK(data_of(section, "start") == "350000");  // there its rank has no work before it
  CHECK(data_of(section, "length") == "290000");
}

TEST_CASE("a step without length lasts a nanosecond in the timeline", "[timeline]") {
  MadeProfile made;
  for (std::int64_t number = 1; number <= 4; ++number)
    made.step(number, 1000.0 * static_cast<double>(number), 1000.0 * static_cast<double>(number));
  made.kernel("work", 900, 5000);
  const TimelineSection section = timeline_of({&made}, {3, {}, {}});
  CHECK(data_of(section, "length") == "1");
  CHECK(section.html.find("nan") == std::string::npos);
}

TEST_CASE("the timeline says which ranks it shows", "[timeline]") {
  const MadeProfile made = four_steps();
  CHECK(timeline_of({&made, &made, &made}, {6, {}, {}}).html.find("Step 6 on all ranks,") != std::string::npos);
  Selection selection;
  selection.ranks = NumberRanges("--ranks", "1-2");
  CHECK(timeline_of({&made, &made, &made}, {6, {}, {}}, selection).html.find("Step 6 on ranks 1-2,") !=
        std::string::npos);
  const TimelineSection many = timeline_of(std::vector<const MadeProfile*>(18, &made),
                                           {6, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, "a 'b c'"});
  REQUIRE(many.notes.size() == 1);
  CHECK(many.notes.front().starts_with("the timeline shows slices of 16 of the 17 ranks in --timeline-ranks"));
  CHECK(data_of(many, "inputs") == "\"a 'b c'\"");
}

TEST_CASE("where there are no steps the timeline shows all of the time", "[timeline]") {
  MadeProfile made;
  made.kernel("work", 100, 200);
  made.kernel("work", 700, 900);
  const TimelineSection section = timeline_of({&made});
  CHECK(data_of(section, "step") == "null");
  CHECK(data_of(section, "start") == "0");
  CHECK(data_of(section, "length") == "800000");
  CHECK(section.events == 2);
  CHECK_THROWS_WITH(timeline_of({&made}, {1, {}, {}}), Catch::Matchers::StartsWith("--step 1: no steps were found"));
}

TEST_CASE("of a long time without steps the timeline shows the first part", "[timeline]") {
  MadeProfile made;
  for (int i = 0; i < 100; ++i) made.kernel("work " + std::to_string(i * i % 97), 1000.0 + i * i, 1000.5 + i * i);
  std::vector<std::string> notes;
  ShownTime all, part;
  analyze_made({&made}, {{}, [&](const AnalysisContext& context) {
                           all = shown_time(context, {}, std::nullopt, {0}, kinds_of({Kind::kernel}), 100, notes);
                           CHECK(notes.empty());
                           part = shown_time(context, {}, std::nullopt, {0}, kinds_of({Kind::kernel}), 25, notes);
                           return std::make_unique<NoObserver>();
                         }});
  CHECK(all.length_ns() == 9'801'500);
  CHECK(part.from_ns == all.from_ns);
  CHECK(part.length_ns() == all.length_ns() / 4);
  REQUIRE(notes.size() == 1);
  CHECK(notes.front().starts_with("the timeline shows the first 2.450 ms of 9.802 ms"));
}

TEST_CASE("slices are written by lane, with the distance to the one before, length and name", "[timeline]") {
  MadeProfile made;
  made.step(1, 1000, 2000);
  made.op("aten::mm", 1100, 1300);
  made.kernel("gemm", 1200, 1400, made.call("cudaLaunchKernel", 1150, 1160));
  made.kernel("other", 1300, 1500, made.call("cudaLaunchKernel", 1165, 1170));
  made.kernel("gemm", 1500, 1501, made.call("cudaLaunchKernel", 1175, 1180));
  made.kernel("gemm", 2000, 2100);  // behind the step
  made.kernel("gemm", 500, 1000);   // before it
  made.kernel("gemm", 900, 1001);   // what was launched before the trace begins ends here
  const TimelineSection section = timeline_of({&made});
  CHECK(section.events == 8);
  CHECK((data_of(section, "start") == "501000" && data_of(section, "length") == "500000"));
  // "cudaLaunchKernel" comes most often: it is 0. Overlapping kernels are on two lanes; those of the host nest.
  CHECK(data_of(section, "tracks")
            .find(R"("name":"stream 7","gpu":1,"lanes":[[199000,200000,1,300000,1000,1],[299000,200000,)") !=
        std::string::npos);
  CHECK(data_of(section, "tracks").find(R"(,"gpu":0,"lanes":[[-1000,1000000,)") != std::string::npos);
}

TEST_CASE("names end neither the data's element nor the page's", "[timeline]") {
  MadeProfile made;
  made.kernel("</script><script>alert(1)</script>", 100, 200);
  made.kernel("<!-- <img src=x onerror=alert(2)>", 300, 400);
  const TimelineSection section = timeline_of({&made});
  const std::size_t data = section.html.find("id=\"timeline-data\">");
  REQUIRE(data != std::string::npos);
  CHECK(section.html.find('<', data) == section.html.rfind("</script></section>"));
  CHECK(section.html.find("<img") == std::string::npos);
}

TEST_CASE("ranks without slices are aggregates", "[timeline]") {
  const MadeProfile made = four_steps();
  const TimelineSection section = timeline_of({&made, &made}, {6, {1}, {}});
  CHECK(section.events == 4);  // its step's range, and the end of that before it
  CHECK(data_of(section, "busy").size() > 400);
  CHECK(section.html.find(R"({"rank":1,"name":"rank 1 NVIDIA A100-SXM4-40GB","tracks":)") != std::string::npos);
  CHECK_THROWS_WITH(timeline_of({&made}, {6, {3}, {}}), "--timeline-ranks: there is no rank 3; there are rank 0");
}

TEST_CASE("of too many slices the longer ones are kept, those of GPUs first", "[timeline]") {
  TimelineSlices slices(100);
  for (std::int64_t i = 1; i <= 1000; ++i) {
    slices.add({0, i * 10, 0, 0, i % 10 == 0 ? Kind::kernel : Kind::cpu_op, WorkClass::compute});
  }
  const auto left_out = slices.left_out();
  const auto kept = slices.take();
  CHECK(kept.size() <= 100);
  CHECK(kept.size() >= 40);
  std::int64_t shortest_host = 1'000'000, host = 0;
  for (const TimelineSlice& slice : kept) {
    if (slice.kind != Kind::cpu_op) continue;
    ++host;
    shortest_host = std::min(shortest_host, slice.end_ns);
  }
  // As many as are longer.
  CHECK(host == 1000 - shortest_host / 10 + 1 - (1000 / 10 - (shortest_host / 10 - 1) / 10));
  REQUIRE(!left_out.empty());
  CHECK(left_out.front().starts_with(std::to_string(900 - host) + " host slices shorter than "));
}

TEST_CASE("of too many slices of one length an even part is kept, and told", "[timeline]") {
  for (const std::int64_t length : {0, 10'000}) {
    CAPTURE(length);
    TimelineSlices slices(1000);
    // Ranks in step take turns.
    for (std::int64_t i = 0; i < 100'000; ++i)
      slices.add({i, i + length, static_cast<TrackId>(i % 2), 0, Kind::kernel, WorkClass::compute});
    const auto left_out = slices.left_out();
    const auto kept = slices.take();
    CHECK(kept.size() <= 1000);
    CHECK(kept.size() >= 300);
    // Of each tenth of the time and of each track as many, but for chance.
    std::array<std::size_t, 10> tenths{};
    std::array<std::size_t, 2> tracks{};
    for (const TimelineSlice& slice : kept) {
      ++tenths[static_cast<std::size_t>(slice.start_ns / 10'000)];
      ++tracks[slice.track];
    }
    CHECK(*std::min_element(tenths.begin(), tenths.end()) * 20 > kept.size());
    CHECK(*std::min_element(tracks.begin(), tracks.end()) * 3 > kept.size());
    REQUIRE(left_out.size() == 1);
    CHECK(left_out.front().starts_with(std::to_string(100'000 - kept.size()) + " kernels and copies of length " +
                                       (length == 0 ? "0 ns" : "10.00 us") + " (about 1 in "));
  }
}

TEST_CASE("slices as long as the floor are shorter than the next", "[timeline]") {
  TimelineSlices slices(100);
  for (std::int64_t i = 0; i < 5000; ++i) slices.add({i, i + 10, 0, 0, Kind::kernel, WorkClass::compute});
  for (std::int64_t i = 0; i < 5000; ++i) slices.add({i, i + 20, 0, 0, Kind::kernel, WorkClass::compute});
  slices.add({0, 5, 0, 0, Kind::kernel, WorkClass::compute});
  const auto left_out = slices.left_out();
  const auto kept = slices.take();
  CHECK(kept.size() <= 100);
  CHECK(std::all_of(kept.begin(), kept.end(),
                    [](const TimelineSlice& slice) { return slice.end_ns - slice.start_ns == 20; }));
  REQUIRE(left_out.size() == 2);
  CHECK(left_out[0] == "5001 kernels and copies shorter than 20 ns");
  CHECK(left_out[1].starts_with(std::to_string(5000 - kept.size()) + " kernels and copies of length 20 ns"));
}

TEST_CASE("a device's usage is that of a count by moments", "[timeline]") {
  std::mt19937 draw(7);
  constexpr std::int64_t from = 100, to = 1100, part = 30;
  for (int round = 0; round < 50; ++round) {
    std::vector<std::tuple<std::int64_t, std::int64_t, WorkClass>> works;
    for (int i = 0; i < 30; ++i) {
      const std::int64_t start = static_cast<std::int64_t>(draw() % 1200);
      works.emplace_back(start, start + static_cast<std::int64_t>(draw() % 90), static_cast<WorkClass>(draw() % 3));
    }
    std::sort(works.begin(), works.end(), [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
    DeviceUsage usage(from, to, part);
    for (const auto& [start, end, work_class] : works) usage.work(work_class, start, end);
    usage.finish();
    std::vector<Usage> slow(static_cast<std::size_t>((to - from + part - 1) / part));
    for (std::int64_t now = from; now < to; ++now) {
      bool runs[3] = {};
      for (const auto& [start, end, work_class] : works)
        runs[static_cast<std::size_t>(work_class)] |= start <= now && now < end;
      Usage& sum = slow[static_cast<std::size_t>((now - from) / part)];
      sum.compute_ns += runs[0];
      sum.comm_ns += runs[1];
      sum.memory_ns += runs[2];
      sum.busy_ns += runs[0] || runs[1] || runs[2];
      sum.exposed_comm_ns += runs[1] && !runs[0];
    }
    Usage whole;
    for (std::size_t i = 0; i < slow.size(); ++i) {
      CHECK(usage.parts()[i].busy_ns == slow[i].busy_ns);
      CHECK(usage.parts()[i].compute_ns == slow[i].compute_ns);
      CHECK(usage.parts()[i].comm_ns == slow[i].comm_ns);
      CHECK(usage.parts()[i].memory_ns == slow[i].memory_ns);
      CHECK(usage.parts()[i].exposed_comm_ns == slow[i].exposed_comm_ns);
      whole.exposed_comm_ns += slow[i].exposed_comm_ns;
    }
    CHECK(usage.whole().exposed_comm_ns == whole.exposed_comm_ns);
  }
}
