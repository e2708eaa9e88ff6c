// The critical path, on worked examples: each rule of cli/answers/tables/path_walk.h.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/answers/tables/path_walk.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

constexpr std::int64_t kUs = 1000;

// Ranks whose work and calls are told in the order of time, in us. A rank's steps are told before.
class ToldRanks {
 public:
  explicit ToldRanks(std::size_t ranks, const Steps& steps = {}) {
    for (std::size_t id = 0; id < ranks; ++id) catalog_.add_process({});
    for (ProcessId id = 0; id < ranks; ++id) {
      for (const std::int64_t thread : {1, 2}) catalog_.track(id, TrackKind::thread, 1, thread);
      for (const std::int64_t stream : {7, 8}) catalog_.track(id, TrackKind::stream, 0, stream);
    }
    for (const char* name : {"cudaLaunchKernel", "cudaStreamSynchronize", "cudaMalloc", "matmul", "copy", "aten::mm"})
      catalog_.strings.intern(name);
    steps_ =
        Windows(steps.empty() ? Steps(ranks) : steps, true, std::vector<TimeWindow>(ranks, {kEarliest_ns, kLatest_ns}));
    context_.emplace(AnalysisContext{catalog_, Windows(ranks), found_, chosen_steps_, chosen_, 0, clocks_, {}});
    calls_.emplace(catalog_);
    context_->calls = &*calls_;
    trace_ = std::make_unique<PathTrace>(*context_, steps_);
    collectives_.calls.processes.resize(ranks);
    for (ProcessCalls& calls : collectives_.calls.processes) calls.lanes.resize(1);
    collectives_.matched.groups.resize(1);
    collectives_.matched.groups[0].size = static_cast<std::int64_t>(ranks);
    collectives_.clocks.domains.resize(ranks);
  }

  void host(ProcessId rank, const char* name, std::int64_t start_us, std::int64_t end_us, std::uint64_t correlation = 0,
            std::int64_t thread = 1, Kind kind = Kind::runtime) {
    Event event;
    event.kind = kind;
    event.name = catalog_.strings.intern(name);
    event.track = catalog_.track(rank, TrackKind::thread, 1, thread);
    event.start_ns = start_us * kUs;
    event.duration_ns = (end_us - start_us) * kUs;
    event.correlation = correlation;
    if (is_api_call(kind) && correlation != 0) calls_->add(event);
    trace_->host(event);
  }
  // Its class is its name's number.
  void work(ProcessId rank, const char* name, std::int64_t start_us, std::int64_t end_us, std::uint64_t correlation = 0,
            std::int64_t stream = 7) {
    Event event;
    event.kind = Kind::kernel;
    event.name = catalog_.strings.intern(name);
    event.track = catalog_.track(rank, TrackKind::stream, 0, stream);
    event.correlation = correlation;
    const Facts facts;
    GpuWork work;
    work.process = rank;
    work.device = 0;
    work.start_ns = start_us * kUs;
    work.end_ns = end_us * kUs;
    work.name = event.name;
    work.event = &event;
    work.facts = &facts;
    if (const auto place = calls_->place_of(event.track, correlation)) {
      work.call = &calls_->at(rank, *place);
      work.call_place = *place;
    }
    trace_->work(work, event.name);
  }
  // Stream 8 waits for an event that a call recorded on stream 7.
  void wait(ProcessId rank, std::int64_t called_us, std::uint32_t recorded_by) {
    Event event;
    event.kind = Kind::sync;
    event.name = catalog_.strings.intern("Stream Wait Event");
    event.track = catalog_.track(rank, TrackKind::stream, 0, 8);
    event.start_ns = called_us * kUs;
    SyncFacts sync;
    sync.producer_is_known = true;
    sync.producer_stream = 7;
    sync.producer_correlation = recorded_by;
    trace_->sync(event, Facts(sync));
  }
  // All ranks take part, on stream 8, each from its start on to one end.
  void all_reduce(const std::vector<std::int64_t>& starts_us, std::int64_t end_us) {
    CollectiveCalls& calls = collectives_.calls;
    MatchedCollectives& matched = collectives_.matched;
    MatchedCollective collective;
    collective.what = calls.whats.intern({Operation::all_reduce});
    collective.first_call = static_cast<std::uint32_t>(matched.calls.size());
    collective.calls = static_cast<std::uint32_t>(starts_us.size());
    for (ProcessId rank = 0; rank < starts_us.size(); ++rank) {
      auto& own = calls.processes[rank].lanes[0].calls;
      matched.calls.push_back({rank, 0, static_cast<std::uint32_t>(own.size())});
      CollectiveCall& call = own.emplace_back();
      call.gpu_start_ns = starts_us[rank] * kUs;
      call.gpu_end_ns = end_us * kUs;
      call.gpu_track = catalog_.track(rank, TrackKind::stream, 0, 8);
    }
    matched.collectives.push_back(collective);
  }
  void clocks_differ() {
    collectives_.clocks.domains = {0, 1};
    collectives_.clocks.errors_ns.resize(2);
  }

  // "1 matmul 40, 1 queued 5 | ...": the segments of each step, the last first, with the rank; "* " where it is none.
  std::string path() {
    trace_->meet(collectives_);
    PathWalk walk(*trace_, catalog_);
    std::string text;
    for (const PathSpan& span : trace_->spans({})) {
      if (!text.empty()) text += " | ";
      std::string segments;
      walk.walk(span,
                [&](const PathSegment& segment) { segments += (segments.empty() ? "" : ", ") + described(segment); });
      text += segments;
    }
    inferred_ = walk.inferred();
    return text;
  }
  std::uint64_t inferred() const { return inferred_; }

 private:
  std::string described(const PathSegment& segment) const {
    static const char* const kParts[] = {"", "launch", "queued", "host", "sync", "unexplained"};
    const std::string name(catalog_.strings[segment.name]), part = kParts[static_cast<std::size_t>(segment.part)];
    return (segment.process ? std::to_string(*segment.process) : "*") + (part.empty() ? "" : " " + part) +
           (name.empty() ? "" : " " + name) + " " + std::to_string((segment.to_ns - segment.from_ns) / kUs);
  }

  Catalog catalog_;
  Windows steps_{0};
  std::vector<ProcessSteps> found_;  // nobody asks for these
  Steps chosen_steps_;
  std::vector<bool> chosen_;
  ProcessClocks clocks_;
  std::optional<LaunchCalls> calls_;
  std::optional<AnalysisContext> context_;
  std::unique_ptr<PathTrace> trace_;
  TraceCollectives collectives_;
  std::uint64_t inferred_ = 0;
};

Steps steps_us(const std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>>& ranks) {
  Steps steps;
  for (const auto& times : ranks) {
    steps.emplace_back();
    for (std::size_t i = 0; i < times.size(); ++i)
      steps.back().push_back({static_cast<std::int64_t>(i), times[i].first * kUs, times[i].second * kUs});
  }
  return steps;
}

}  // namespace

TEST_CASE("path: work waits for the work before it on its stream, which still ran at its launch") {
  ToldRanks told(1);
  told.host(0, "cudaLaunchKernel", 0, 4, 1);
  told.host(0, "cudaLaunchKernel", 6, 10, 2);
  told.work(0, "matmul", 8, 50, 1);
  told.work(0, "copy", 52, 60, 2);
  CHECK(told.path() == "0 copy 8, 0 queued 2, 0 matmul 42");
}

TEST_CASE("path: a launch into an idle stream, and the host before it, by what it was in") {
  ToldRanks told(1, steps_us({{{0, 100}}}));
  told.host(0, "aten::mm", 10, 99, 0, 1, Kind::cpu_op);
  told.host(0, "cudaMalloc", 20, 30);
  told.host(0, "cudaLaunchKernel", 40, 44, 1);
  told.host(0, "cudaLaunchKernel", 50, 54, 2);
  told.work(0, "copy", 48, 49, 1);
  told.work(0, "matmul", 60, 90, 2);
  CHECK(
      told.path() ==
      "0 matmul 30, 0 queued 6, 0 launch cudaLaunchKernel 4, 0 host aten::mm 6, 0 launch cudaLaunchKernel 4, 0 host aten::mm 10, "
      "0 host cudaMalloc 10, 0 host aten::mm 10, 0 host 10");
}

TEST_CASE("path: the host came out of a wait, which the work before had ended") {
  ToldRanks told(1);
  told.host(0, "cudaLaunchKernel", 0, 4, 1);
  told.host(0, "cudaStreamSynchronize", 5, 55);
  told.work(0, "matmul", 10, 50, 1);
  told.host(0, "cudaStreamSynchronize", 56, 57);  // waits for nothing
  told.host(0, "cudaLaunchKernel", 60, 64, 2);
  told.work(0, "copy", 70, 80, 2);
  CHECK(told.path() ==
        "0 copy 10, 0 queued 6, 0 launch cudaLaunchKernel 4, 0 host 3, 0 sync cudaStreamSynchronize 1, 0 host 1, "
        "0 sync cudaStreamSynchronize 5, 0 matmul 40");
}

TEST_CASE("path: another stream's work, where nothing else explains a start; not from afar") {
  for (const std::int64_t late_us : {30, 31}) {
    ToldRanks told(1);
    told.host(0, "cudaLaunchKernel", 0, 4, 1);
    told.host(0, "cudaLaunchKernel", 5, 9, 2);
    told.work(0, "matmul", 6, 100, 1);
    told.work(0, "copy", 100 + late_us, 200, 2, 8);
    CHECK(told.path() ==
          (late_us == 30 ? "0 copy 70, 0 queued 30, 0 matmul 94" : "0 copy 69, 0 unexplained 31, 0 matmul 94"));
    CHECK(told.inferred() == (late_us == 30 ? 1u : 0u));
  }
}

TEST_CASE("path: what a stream waited for by an event") {
  for (const bool is_recorded : {true, false}) {
    ToldRanks told(1);
    told.host(0, "cudaLaunchKernel", 0, 4, 1);
    if (is_recorded) told.host(0, "cudaEventRecord", 5, 6, 2);
    told.work(0, "matmul", 6, 20, 1);
    told.host(0, "cudaLaunchKernel", 6, 8, 3);
    told.wait(0, 9, 2);
    told.host(0, "cudaLaunchKernel", 10, 14, 4);
    told.work(0, "copy", 20, 38, 3);
    told.work(0, "matmul", 40, 50, 4, 8);
    CHECK(told.path() ==
          (is_recorded
               ? "0 matmul 10, 0 queued 20, 0 matmul 14"
               : "0 matmul 10, 0 queued 26, 0 launch cudaLaunchKernel 4, 0 host 2, 0 launch cudaLaunchKernel 2"));
    CHECK(told.inferred() == 0);
  }
}

TEST_CASE("path: work that began before that on its stream ended") {
  ToldRanks told(1);
  told.work(0, "matmul", 0, 50);
  told.work(0, "copy", 40, 60);  // launched by the program on the device
  CHECK(told.path() == "0 copy 20, 0 matmul 40");
}

TEST_CASE("path: in a collective it goes to the rank that began last") {
  for (const bool comparable : {true, false}) {
    ToldRanks told(2);
    told.work(0, "matmul", 0, 30);
    told.work(1, "copy", 0, 70);
    told.work(0, "all_reduce", 32, 100, 0, 8);
    told.work(1, "all_reduce", 75, 100, 0, 8);
    told.all_reduce({32, 75}, 100);
    if (!comparable) told.clocks_differ();
    CHECK(told.path() ==
          (comparable ? "* all_reduce 25, 1 queued 5, 1 copy 70" : "0 all_reduce 68, 0 queued 2, 0 matmul 30"));
  }
}

TEST_CASE("path: steps follow each other, each from the end of what was launched before") {
  ToldRanks told(1, steps_us({{{10, 50}, {50, 90}}}));
  told.host(0, "cudaLaunchKernel", 0, 4, 1);
  told.host(0, "cudaLaunchKernel", 12, 16, 2);
  told.work(0, "copy", 8, 40, 1);
  told.work(0, "matmul", 40, 80, 2);
  told.host(0, "cudaLaunchKernel", 52, 56, 3);
  told.host(0, "cudaLaunchKernel", 95, 96, 4);
  told.work(0, "copy", 80, 100, 3);
  told.work(0, "matmul", 100, 180, 4);  // of no step
  CHECK(told.path() == "0 matmul 40 | 0 copy 20");
}

TEST_CASE("path: a rank that was not chosen was last, and work without a past") {
  ToldRanks told(2);
  told.work(0, "all_reduce", 20, 100, 0, 8);
  told.all_reduce({20, 75}, 100);
  told.work(0, "copy", 200, 210);
  CHECK(told.path() == "0 copy 10, 0 unexplained 100, * all_reduce 25, 0 unexplained 55");
}

TEST_CASE("path: pieces without length end the walk, too") {
  ToldRanks told(1);
  told.work(0, "copy", 0, 10);
  told.host(0, "cudaStreamSynchronize", 10, 10);
  told.host(0, "cudaLaunchKernel", 10, 10, 1);
  for (const std::int64_t stream : {8, 7, 8}) told.work(0, "copy", 10, 10, 1, stream);
  told.work(0, "matmul", 10, 20, 1);
  CHECK(told.path() == "0 matmul 10, 0 host 10");
}

TEST_CASE("path: what the thread that comes next was in") {
  ToldRanks told(1, steps_us({{{0, 100}}}));
  told.host(0, "forward", 10, 30, 0, 1, Kind::nvtx);
  told.host(0, "backward", 40, 90, 0, 2, Kind::nvtx);
  told.host(0, "cudaLaunchKernel", 50, 54, 1, 2);
  told.work(0, "matmul", 58, 90, 1);
  CHECK(
      told.path() ==
      "0 matmul 32, 0 queued 4, 0 launch cudaLaunchKernel 4, 0 host backward 10, 0 host 10, 0 host forward 20, 0 host 10");
}

TEST_CASE("path: ranks that share no time of a step have each their own") {
  ToldRanks told(2, steps_us({{{0, 100}}, {{5000, 5100}}}));
  told.host(0, "cudaLaunchKernel", 10, 14, 1);
  told.work(0, "matmul", 20, 60, 1);
  told.host(1, "cudaLaunchKernel", 5010, 5014, 1);
  told.work(1, "copy", 5020, 5060, 1);
  CHECK(
      told.path() ==
      "0 matmul 40, 0 queued 6, 0 launch cudaLaunchKernel 4, 0 host 10 | 1 copy 40, 1 queued 6, 1 launch cudaLaunchKernel 4, 1 host 10");
}

TEST_CASE("path: where no call at all is in the trace, work belongs to the step in which it began") {
  ToldRanks told(1, steps_us({{{0, 100}, {100, 200}}}));
  told.work(0, "matmul", 20, 60);
  told.work(0, "matmul", 60, 110);
  told.work(0, "copy", 110, 180);
  CHECK(told.path() == "0 matmul 50, 0 matmul 40, 0 unexplained 20 | 0 copy 70");
}
