#include <cstring>

#include "cli/formats/ttrace/columns.h"
#include "cli/formats/ttrace/fields.h"
#include "collect.h"
#include "tests/case_step.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::ttrace;

namespace {

EventBatch batch_of(const std::vector<Collected>& events) {
  EventBatch batch;
  for (const Collected& e : events) batch.add(e.event, e.facts);
  return batch;
}

// The same with shapes.
EventBatch shaped(const std::vector<Collected>& events, Shapes& shapes) {
  EventBatch batch;
  std::int64_t integer = 0;
  for (const Collected& e : events) batch.add(e.event, with_shape(e, shapes, integer));
  return batch;
}

ShapeTable table_of(const Shapes& shapes) {
  ShapeTable table;
  for (ShapeId id = 0; id < shapes.size(); ++id) table.push_back(&shapes[id]);
  return table;
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
  REQUIRE(decode_events(raw, events.size(), {}, decoded) == nullptr);
  CHECK(all_of(decoded) == events);

  const std::vector<std::uint32_t> order{7, 5, 6};
  encode_events(batch_of(events), order.data(), 1, 3, raw);
  REQUIRE(decode_events(raw, 2, {}, decoded) == nullptr);
  CHECK(all_of(decoded) == std::vector<Collected>{events[5], events[6]});
}

TEST_CASE("columns: shapes and their integers come back, beside text and payloads") {
  Shapes shapes;
  std::vector<Collected> events = random_events(5000, 7);
  const std::int64_t extremes[] = {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                                   0, -1};
  for (std::size_t i = 0; i < 8; ++i) events[i].facts.args = "\"a\":" + std::to_string(extremes[i % 4]);
  for (std::size_t i = 100; i < 1000; ++i) {  // as a correlation among the arguments
    events[i].facts.args = "\"a\":" + std::to_string(static_cast<std::int64_t>(events[i].event.correlation));
  }
  events[10].facts.args = "\"b\":1";
  std::string raw;
  EventBatch decoded;
  const EventBatch batch = shaped(events, shapes);
  CHECK(all_of(batch) == events);
  encode_events(batch, nullptr, 0, events.size(), raw);
  REQUIRE(decode_events(raw, events.size(), table_of(shapes), decoded) == nullptr);
  CHECK(all_of(decoded) == events);
  CHECK(decoded.facts(0).shape == &shapes[1]);
  CHECK(decode_events(raw, events.size(), {}, decoded) != nullptr);
  CHECK(decode_events(raw, events.size(), {&shapes[0]}, decoded) != nullptr);
  const Shape& other = shapes.intern("\"a\":\1,\"a\":\1");
  CHECK(decode_events(raw, events.size(), {&shapes[0], &other}, decoded) != nullptr);
}

TEST_CASE("columns: an integer that is its event's correlation costs a byte") {
  Shapes shapes;
  std::vector<Collected> events(10'000);
  std::mt19937_64 random(3);
  for (Collected& e : events) {
    e.event.correlation = random() >> 1;
    e.facts.args = "\"a\":" + std::to_string(e.event.correlation);
  }
  std::string raw, without;
  encode_events(shaped(events, shapes), nullptr, 0, events.size(), raw);
  for (Collected& e : events) e.facts.args.clear();
  encode_events(batch_of(events), nullptr, 0, events.size(), without);
  CHECK(raw.size() <= without.size() + events.size() + 20);
}

TEST_CASE("columns: repeated arguments are stored once") {
  std::vector<Collected> events = random_events(1000, 2);
  for (std::size_t i = 0; i < events.size(); ++i) events[i].facts.args = std::string(200, i % 2 == 0 ? 'a' : 'b');
  std::string raw;
  encode_events(batch_of(events), nullptr, 0, events.size(), raw);
  CHECK(raw.size() < 45'000);
}

TEST_CASE("columns: some at a time they are the same, and repeated arguments take their room once") {
  std::vector<Collected> events = random_events(1000, 6);
  for (std::size_t i = 0; i < events.size(); ++i) events[i].facts.args = std::string(200, i % 3 == 0 ? 'a' : 'b');
  std::string raw;
  encode_events(batch_of(events), nullptr, 0, events.size(), raw);
  const ShapeTable shapes;
  ColumnDecoder decoder(shapes);
  EventBatch batch;
  CHECK((decoder.take(batch, 7) == nullptr && batch.size() == 0));
  for (const std::size_t most_text : {std::size_t{300}, ~std::size_t{0}}) {
    REQUIRE(decoder.open(raw, events.size()) == nullptr);
    std::vector<Collected> all;
    do {
      REQUIRE(decoder.take(batch, 7, most_text) == nullptr);
      CHECK((batch.size() <= 7 && batch.args_bytes() <= 400));
      const std::vector<Collected> some = all_of(batch);
      all.insert(all.end(), some.begin(), some.end());
    } while (batch.size() != 0);
    CHECK(all == events);
  }
}

TEST_CASE("columns: broken ones are refused, never believed", "[slow]") {
  const std::vector<Collected> events = random_events(50, 3);
  std::string raw;
  encode_events(batch_of(events), nullptr, 0, events.size(), raw);
  EventBatch decoded;
  CHECK(decode_events(raw, events.size() + 1, {}, decoded) != nullptr);
  CHECK(decode_events(raw, events.size() - 1, {}, decoded) != nullptr);
  for (std::size_t cut = 0; cut < raw.size(); ++cut) {
    CHECK(decode_events(std::string_view(raw).substr(0, cut), events.size(), {}, decoded) != nullptr);
  }
  std::mt19937 random(4);
  Shapes shapes;
  std::string with_shapes;
  encode_events(shaped(events, shapes), nullptr, 0, events.size(), with_shapes);
  const ShapeTable table = table_of(shapes);
  for (std::size_t i = 0; i < few(40'000); ++i) {
    std::string broken = i % 2 == 0 ? raw : with_shapes;
    broken[random() % broken.size()] = static_cast<char>(random());
    if (decode_events(broken, events.size(), table, decoded) == nullptr) CHECK(all_of(decoded).size() == events.size());
  }
}
