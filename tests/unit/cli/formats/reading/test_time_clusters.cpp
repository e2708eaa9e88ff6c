#include "cli/formats/kineto/implausible_times.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::kineto;
namespace {

constexpr std::int64_t kHour = 3'600'000'000'000, kDay = 24 * kHour, kNow = 1'760'000'000'000'000'000;

struct Spans {
  explicit Spans(const TimeClusters& clusters) : span(clusters.span(strays)) {}
  std::uint64_t strays = 0;
  TimeClusters::Span span;
};

}  // namespace

TEST_CASE("time clusters: few events far from all others are strays") {
  TimeClusters clusters;
  for (int i = 0; i < 5; ++i) clusters.add(kNow + i * kHour, kNow + i * kHour + 10, false);
  clusters.add(0, 0, true);
  clusters.add(5, 7, false);
  const Spans found(clusters);
  CHECK(found.strays == 2);
  CHECK((found.span.first_ns == kNow && found.span.last_ns == kNow + 4 * kHour + 10 && found.span.events == 5));
  CHECK(found.span.first_unclamped_ns == kNow);
}

TEST_CASE("time clusters: half as many are another part of the trace") {
  TimeClusters clusters;
  for (int i = 0; i < 2; ++i) clusters.add(kNow + i, kNow + i, false);
  clusters.add(kNow + 3 * kDay, kNow + 3 * kDay + 5, false);
  const Spans found(clusters);
  CHECK(found.strays == 0);
  CHECK(found.span.last_ns == kNow + 3 * kDay + 5);
}

TEST_CASE("time clusters: an end far beyond everything else is not believed, a long run is") {
  TimeClusters clusters;
  for (int i = 0; i < 5; ++i) clusters.add(kNow + i, kNow + i + 10, false);
  clusters.add(kNow, kNow + 400 * kDay, false);
  CHECK(Spans(clusters).strays == 1);
  CHECK(Spans(clusters).span.last_ns == kNow + 14);
  TimeClusters days;
  for (int i = 0; i < 100; ++i) days.add(kNow + i * kHour, kNow + i * kHour, false);
  days.add(kNow, kNow + 100 * kHour, false);
  CHECK((Spans(days).strays == 0 && Spans(days).span.last_ns == kNow + 100 * kHour));
}

TEST_CASE("time clusters: times at the ends of the range, between which no span is") {
  TimeClusters clusters;
  for (int i = 0; i < 2; ++i) {
    clusters.add(INT64_MIN + i, INT64_MIN + i + 10, false);
    clusters.add(INT64_MAX - 10 - i, INT64_MAX - i, false);
  }
  const Spans found(clusters);
  CHECK(found.strays == 2);
  CHECK((found.span.first_ns == INT64_MIN && found.span.last_ns == INT64_MIN + 11));
  std::uint64_t strays = 1;
  CHECK((TimeClusters().span(strays).events == 0 && strays == 0));
}

TEST_CASE("time clusters: an event's end may come later") {
  TimeClusters clusters;
  clusters.add(kNow, kNow, false);
  clusters.add(kNow + 3 * kDay, kNow + 3 * kDay, false);
  clusters.extend(kNow, kNow + kHour);
  clusters.extend(kNow, kNow + 400 * kDay);
  const Spans found(clusters);
  CHECK(found.strays == 1);
  CHECK((found.span.events == 2 && found.span.last_ns == kNow + 3 * kDay));
}
