// Which ranges are open where a call launches, whichever of those that start together came first.
#include <optional>
#include <string>
#include <vector>

#include "cli/answers/tables/launch_ranges.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

class Walk {
 public:
  explicit Walk(bool tells_of_all = true) : tells_of_all_(tells_of_all) {
    catalog_.add_process({});
    catalog_.track(0, TrackKind::thread, 1, 1);
    catalog_.track(0, TrackKind::thread, 1, 2);
    context_.emplace(AnalysisContext{catalog_, Windows(std::size_t{1}), found_, steps_, chosen_, 0, clocks_, {}});
    context_->calls = &calls_.emplace(catalog_);
    ranges_.emplace(*context_);
  }

  void range(TrackId thread, std::int64_t start_ns, std::int64_t end_ns, char name) {
    settle(start_ns);
    ranges_->open_at(thread, start_ns);
    ranges_->open(thread, {start_ns, end_ns, name});
  }
  void call(TrackId thread, std::int64_t start_ns, std::int64_t duration_ns, std::uint64_t correlation) {
    settle(start_ns);
    Event event;
    event.kind = Kind::runtime;
    event.track = thread;
    event.start_ns = start_ns;
    event.duration_ns = duration_ns;
    event.correlation = correlation;
    calls_->add(event);
    ranges_->call(event);
  }
  // An operator: true if an open range holds it.
  bool operation(TrackId thread, std::int64_t start_ns, std::int64_t end_ns) {
    settle(start_ns);
    const bool has_around = ranges_->around(thread, start_ns, end_ns) != nullptr;
    ranges_->open(thread, {start_ns, end_ns, 'o'});
    return has_around;
  }
  std::uint64_t looked_at() const { return ranges_->looked_at(); }
  // Of the launch with this correlation; "-": none is known.
  std::string launched_in(std::uint64_t correlation) {
    ranges_->settle([&](const Event& call) { launch(call); });
    const std::string* names = ranges_->of(0, correlation);
    return names != nullptr ? *names : "-";
  }

 private:
  void settle(std::int64_t start_ns) {
    ranges_->settle(start_ns, [&](const Event& call) { launch(call); });
  }
  void launch(const Event& call) {
    std::string names;
    for (const auto& open : ranges_->open_at(call.track, call.start_ns)) names += open.range;
    if (tells_of_all_ || !names.empty()) ranges_->launches(call, names);
  }

  Catalog catalog_;
  std::vector<ProcessSteps> found_{1};
  Steps steps_{1};
  std::vector<bool> chosen_{true};
  ProcessClocks clocks_;
  std::optional<LaunchCalls> calls_;
  bool tells_of_all_;
  std::optional<AnalysisContext> context_;
  std::optional<LaunchRanges<char, std::string>> ranges_;
};

}  // namespace

TEST_CASE("launch ranges: what is open on the thread of the call, when it begins") {
  Walk walk;
  walk.range(0, 100, 200, 'a');
  walk.range(0, 110, 120, 'b');
  walk.range(1, 110, 300, 'x');
  walk.call(0, 115, 50, 1);
  walk.call(0, 120, 5, 2);
  walk.call(0, 200, 5, 3);
  walk.call(1, 250, 5, 4);
  CHECK(walk.launched_in(1) == "ab");
  CHECK(walk.launched_in(2) == "a");
  CHECK(walk.launched_in(3) == "");
  CHECK(walk.launched_in(4) == "x");
  CHECK(walk.launched_in(5) == "-");
  CHECK(walk.launched_in(0) == "-");
}

TEST_CASE("launch ranges: those that start with the call count, also when they come behind it") {
  Walk walk;
  walk.call(0, 100, 50, 1);
  walk.range(0, 100, 110, 'a');
  walk.range(0, 101, 110, 'b');
  CHECK(walk.launched_in(1) == "a");
}

TEST_CASE("launch ranges: ranges that do not lie in each other") {
  Walk walk;
  walk.range(0, 100, 200, 'a');
  walk.range(0, 150, 300, 'b');
  walk.call(0, 180, 1, 1);
  walk.call(0, 220, 1, 2);
  CHECK(walk.launched_in(1) == "ab");
  CHECK(walk.launched_in(2) == "b");
}

TEST_CASE("launch ranges: the driver's call in the runtime's launches nothing of its own") {
  Walk walk;
  walk.call(0, 100, 50, 1);
  walk.range(0, 110, 130, 'a');
  walk.call(0, 120, 5, 1);
  CHECK(walk.launched_in(1) == "");
}

TEST_CASE("launch ranges: what the oldest calls launched is forgotten") {
  Walk walk;
  walk.range(0, 1, kLatest_ns, 'a');
  const std::uint64_t many = LaunchCalls::kMostCalls;
  for (std::uint64_t i = 1; i <= many + 1; ++i) walk.call(0, static_cast<std::int64_t>(10 * i), 5, i);
  CHECK(walk.launched_in(1) == "-");
  CHECK(walk.launched_in(2) == "a");
  CHECK(walk.launched_in(many + 1) == "a");
}

TEST_CASE("launch ranges: what was said of a call is not said of that which takes its place") {
  Walk walk(false);
  walk.range(0, 0, 10, 'a');
  walk.call(0, 5, 1, 1);
  CHECK(walk.launched_in(1) == "a");
  for (std::size_t i = 0; i < LaunchCalls::kMostCalls; ++i) walk.call(0, 20 + static_cast<std::int64_t>(i), 1, 2 + i);
  CHECK(walk.launched_in(1) == "-");
  CHECK(walk.launched_in(1 + LaunchCalls::kMostCalls) == "-");
}

TEST_CASE("launch ranges: the newest range that holds an operator whole") {
  Walk walk(false);
  CHECK_FALSE(walk.operation(0, 10, 100));
  CHECK(walk.operation(0, 20, 100));
  CHECK_FALSE(walk.operation(0, 30, 110));
  CHECK(walk.operation(0, 40, 105));
  CHECK_FALSE(walk.operation(0, 110, 120));
}

TEST_CASE(
    "launch ranges: each range is looked at a few times, whether ranges end in turn, never, or in the order of their starts") {
  constexpr std::int64_t kMany = 2000;
  const auto looked_at = [](auto&& end_of) {
    Walk walk(false);
    for (std::int64_t i = 0; i < kMany; ++i) {
      walk.operation(0, 10 * i, end_of(i));
      walk.operation(0, 10 * i + 1, 10 * i + 4);
      walk.call(0, 10 * i + 2, 1, static_cast<std::uint64_t>(i + 1));
    }
    return walk.looked_at();
  };
  const std::uint64_t most = 16 * kMany;
  CHECK(looked_at([](std::int64_t i) { return 10 * i + 8; }) < most);
  CHECK(looked_at([](std::int64_t) { return kLatest_ns; }) < most);
  CHECK(looked_at([](std::int64_t i) { return 10 * (2 * kMany - i); }) < most);
  CHECK(looked_at([](std::int64_t i) { return 10 * (i + kMany); }) < most);
  CHECK(looked_at([](std::int64_t i) { return i % 2 == 0 ? kLatest_ns : 10 * i + 18; }) < most);
}
