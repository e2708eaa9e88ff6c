// What of a stream's work ends too late, and until when it counts.
#include <utility>
#include <vector>

#include "cli/formats/kineto/implausible_times.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::kineto;

namespace {

constexpr std::int64_t kMs = 1'000'000, kSecond = 1'000 * kMs;

struct Finder {
  auto settled() {
    return [this](std::int64_t start_ns, std::int64_t end_ns) { ends.emplace_back(start_ns, end_ns); };
  }
  bool work(std::int64_t start_ns, std::int64_t duration_ns, std::uint64_t correlation, TrackId track = 0) {
    Event event;
    event.kind = Kind::kernel;
    event.track = track;
    event.start_ns = start_ns;
    event.duration_ns = duration_ns;
    event.correlation = correlation;
    return overruns.add(event, settled());
  }
  std::vector<Overrun> finish() { return overruns.finish(settled()); }

  StreamOverruns overruns;
  std::vector<std::pair<std::int64_t, std::int64_t>> ends;  // that are known, of long work
};
using Ends = std::vector<std::pair<std::int64_t, std::int64_t>>;

}  // namespace

TEST_CASE(
    "stream overruns: work lasts until the next work of its stream, if it is said to end more than a second after that") {
  Finder finder;
  CHECK(finder.work(0, 5 * kSecond, 3));
  CHECK_FALSE(finder.work(100 * kMs, kMs, 4, 1));  // another stream
  CHECK_FALSE(finder.work(200 * kMs, kMs, 4));
  CHECK(finder.ends == Ends{{0, 200 * kMs}});
  CHECK(finder.work(300 * kMs, 9 * kSecond, 2));
  CHECK(finder.work(400 * kMs, 7 * kSecond, 9));
  CHECK(finder.finish() == std::vector<Overrun>{{2, 9 * kSecond, 100 * kMs}, {3, 5 * kSecond, 200 * kMs}});
  CHECK(finder.ends == Ends{{0, 200 * kMs}, {300 * kMs, 400 * kMs}, {400 * kMs, 400 * kMs + 7 * kSecond}});
}

TEST_CASE(
    "stream overruns: long work that others follow, overlap a little or run beside in one graph is as it is said to be") {
  Finder finder;
  CHECK(finder.work(0, 5 * kSecond, 1));
  finder.work(4100 * kMs, kMs, 2);
  finder.work(10 * kSecond, 5 * kSecond, 3);
  finder.work(11 * kSecond, kMs, 3);
  finder.work(20 * kSecond, kMs, 4);
  CHECK(finder.finish().empty());
  CHECK(finder.ends == Ends{{0, 5 * kSecond}, {10 * kSecond, 15 * kSecond}});
}
