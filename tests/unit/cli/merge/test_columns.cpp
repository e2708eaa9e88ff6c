#include <cstring>

#include "cli/read/merged_columns.h"
#include "cli/read/merged_varint.h"
#include "collect.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

EventBatch batch_of(const std::vector<Collected>& events) {
  EventBatch batch;
  for (const Collected& e : events) batch.add(e.event, e.facts);
  return batch;
}

std::vector<Collected> all_of(const EventBatch& batch) {
  std::vector<Collected> events;
  for (std::size_t i = 0; i < batch.size(); ++i) events.push_back({batch.event(i), batch.facts(i)});
  return events;
}

}  // namespace

TEST_CASE("columns: varints and zigzag are exact over the whole range") {
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, ~std::uint64_t{0} >> 1,
                                    std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    CHECK(unzigzag(zigzag(value)) == value);
    std::string out;
    append_varint(out, value);
    std::string_view in = out;
    bool bad = false;
    CHECK(take_varint(in, bad) == value);
    CHECK((in.empty() && !bad));
    for (std::size_t cut = 0; cut < out.size(); ++cut) {
      in = std::string_view(out).substr(0, cut);
      bad = false;
      take_varint(in, bad);
      CHECK(bad);
    }
  }
  CHECK(zigzag(static_cast<std::uint64_t>(-1)) == 1);
}

TEST_CASE("columns: every field comes back, in the order asked for") {
  std::vector<Collected> events = random_events(5000, 1);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  events[0].event.start_ns = std::numeric_limits<std::int64_t>::min();
  events[1].event.start_ns = most, events[1].event.duration_ns = 0;
  events[2].event.start_ns = 0, events[2].event.duration_ns = most;
  events[3].event.correlation = ~std::uint64_t{0};
  events[4].event.track = events[4].event.name = events[4].event.category = ~std::uint32_t{0};
  events[5].facts.args = std::string(300'000, 'x');
  std::string raw;
  EventBatch decoded;

  encode_events(batch_of(events), nullptr, 0, events.size(), raw);
  REQUIRE(decode_events(raw, events.size(), decoded) == nullptr);
  CHECK(all_of(decoded) == events);

  const std::vector<std::uint32_t> order{7, 5, 6};
  encode_events(batch_of(events), order.data(), 1, 3, raw);
  REQUIRE(decode_events(raw, 2, decoded) == nullptr);
  CHECK(all_of(decoded) == std::vector<Collected>{events[5], events[6]});
}

TEST_CASE("columns: repeated arguments are stored once") {
  std::vector<Collected> events = random_events(1000, 2);
  for (std::size_t i = 0; i < events.size(); ++i) events[i].facts.args = std::string(200, i % 2 == 0 ? 'a' : 'b');
  std::string raw;
  encode_events(batch_of(events), nullptr, 0, events.size(), raw);
  CHECK(raw.size() < 40'000);
}

TEST_CASE("columns: broken ones are refused, never believed") {
  const std::vector<Collected> events = random_events(50, 3);
  std::string raw;
  encode_events(batch_of(events), nullptr, 0, events.size(), raw);
  EventBatch decoded;
  CHECK(decode_events(raw, events.size() + 1, decoded) != nullptr);
  CHECK(decode_events(raw, events.size() - 1, decoded) != nullptr);
  for (std::size_t cut = 0; cut < raw.size(); ++cut) {
    CHECK(decode_events(std::string_view(raw).substr(0, cut), events.size(), decoded) != nullptr);
  }
  std::mt19937 random(4);
  for (int i = 0; i < 20'000; ++i) {
    std::string broken = raw;
    broken[random() % broken.size()] = static_cast<char>(random());
    if (decode_events(broken, events.size(), decoded) == nullptr) CHECK(decoded.size() == events.size());
  }
}
