#include <string>
#include <vector>

#include "cli/show/export/event_walk.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

struct Rows : DerivedSink {
  void derived(const Derived& d) override {
    text += std::string(info(d.track).name) + ' ' + std::to_string(d.start_ns) + '+' + std::to_string(d.duration_ns) +
            '=' + std::to_string(static_cast<int>(d.value)) + '\n';
  }
  std::string text;
};

std::string clipped(const std::vector<Derived>& all) {
  Rows rows;
  Clip clip([](ProcessId id) { return id == 0 ? TimeWindow{100, 200} : TimeWindow{}; }, rows);
  for (const Derived& derived : all) clip.derived(derived);
  clip.finish();
  return rows.text;
}

Derived gap(std::int64_t start, std::int64_t duration, ProcessId process = 0) {
  return {process, DerivedTrack::idle, 0, start, duration, 0, {}};
}
Derived queue(std::int64_t at, double value, std::int64_t device = 0) {
  return {0, DerivedTrack::queue_length, device, at, 0, value, {}};
}

}  // namespace

TEST_CASE("clip: slices keep what lies in the window") {
  CHECK(clipped({gap(50, 100), gap(150, 10), gap(180, 90)}) == "idle 100+50=0\nidle 150+10=0\nidle 180+20=0\n");
  CHECK(clipped({gap(10, 20), gap(50, 50), gap(200, 5), gap(150, 10, 1)}).empty());
  CHECK(clipped({gap(50, 500)}) == "idle 100+100=0\n");
}

TEST_CASE("clip: a counter begins with the value that it had") {
  CHECK(clipped({queue(10, 3), queue(90, 4), queue(120, 5), queue(250, 6)}) ==
        "launch queue 100+0=4\nlaunch queue 120+0=5\n");
  CHECK(clipped({queue(10, 3)}) == "launch queue 100+0=3\n");
  CHECK(clipped({queue(10, 3), queue(300, 9)}) == "launch queue 100+0=3\n");
  CHECK(clipped({queue(100, 7), queue(110, 8)}) == "launch queue 100+0=7\nlaunch queue 110+0=8\n");
}

TEST_CASE("clip: at a border the value at the window's beginning goes to the part that it lies in") {
  Rows rows;
  Clip clip([](ProcessId) { return TimeWindow{100, 200}; }, rows);
  clip.derived(queue(10, 3));
  clip.cut(90);
  CHECK(rows.text.empty());
  clip.cut(150);
  CHECK(rows.text == "launch queue 100+0=3\n");
  clip.derived(queue(160, 5));
  clip.finish();
  CHECK(rows.text == "launch queue 100+0=3\nlaunch queue 160+0=5\n");
}
