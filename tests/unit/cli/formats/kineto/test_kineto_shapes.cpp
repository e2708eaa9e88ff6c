#include <set>

#include "cli/formats/kineto/shapes.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"

using namespace cli;
using namespace cli::kineto;

namespace {

struct Shaped : EventSink {
  void event(const Event&, const Facts& facts) override {
    std::string scratch;
    texts.push_back(std::string(facts.foreign(scratch)));
    shapes.push_back(facts.shape == nullptr ? 0 : facts.shape->id);
    holes.push_back(facts.shape == nullptr ? 0 : facts.shape->holes.size());
    left.push_back(facts.args.size());
  }
  std::vector<std::string> texts;
  std::vector<ShapeId> shapes;
  std::vector<std::size_t> holes, left;
  Catalog catalog;
};

std::unique_ptr<Shaped> read_args(const std::vector<std::string>& args) {
  std::string events;
  for (const std::string& text : args) {
    events += (events.empty() ? "" : ",\n") +
              (R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{)" + text + "}}");
  }
  const TestFolder folder;
  auto out = std::make_unique<Shaped>();
  kineto::open(folder.write("a.json", "{\"traceEvents\":[" + events + "]}"))->read(out->catalog, *out);
  return out;
}

}  // namespace

TEST_CASE("plain integers are those that come back as they are spelled") {
  std::int64_t value = 7;
  for (const char* text : {"0", "1", "-1", "10", "9223372036854775807", "-9223372036854775808"}) {
    CHECK(read_plain_integer(text, value));
    CHECK(std::to_string(value) == text);
  }
  for (const char* text :
       {"-0", "1.0", "1e3", "00", "-01", "+1", " 1", "1 ", "", "-", "true", "9223372036854775808", "0x1"}) {
    CHECK_FALSE(read_plain_integer(text, value));
  }
}

TEST_CASE("arguments that differ in their own integers are of one shape, and come back as they were") {
  const std::vector<std::string> args{
      R"("External id": 1, "grid": [1, 2, 3], "x": 1.5, "name": "7 of 9", "last": -3)",
      R"("External id": 99, "grid": [1, 2, 3], "x": 1.5, "name": "7 of 9", "last": 9223372036854775807)",
      R"("External id": 99, "grid": [1, 2, 4], "x": 1.5, "name": "7 of 9", "last": 0)",
      R"("External id": -0, "grid": [1, 2, 3], "x": 1.5, "name": "7 of 9", "last": 18446744073709551615)",
      R"("more": {"in": 1, "it": [{"a": 2}]}, "External id": 4)",
      R"("more":{"in":1,"it":[{"a":2}]},"External id":4)",
      R"("a":true,"b":null)",
      ""};
  const auto read = read_args(args);
  CHECK(read->texts == args);
  CHECK(read->holes == std::vector<std::size_t>{2, 2, 2, 0, 1, 1, 0, 0});
  CHECK(read->shapes[0] == read->shapes[1]);
  CHECK(std::set<ShapeId>(read->shapes.begin(), read->shapes.end()).size() == 7);
  CHECK(read->left == std::vector<std::size_t>(8, 0));
}

TEST_CASE("beginnings and ends that are joined have a shape, too") {
  const TestFolder folder;
  Shaped out;
  kineto::open(folder.write("a.json", R"({"traceEvents":[
    {"ph":"B","cat":"c","name":"a","pid":1,"tid":1,"ts":1,"args":{"x": 12, "y": "1"}},
    {"ph":"E","pid":1,"tid":1,"ts":2,"args":{"z": 345, "w":6}},
    {"ph":"B","cat":"c","name":"a","pid":1,"tid":1,"ts":3},
    {"ph":"E","pid":1,"tid":1,"ts":4,"args":{ "z": 345}}]})"))
      ->read(out.catalog, out);
  CHECK(out.texts == std::vector<std::string>{R"("x": 12, "y": "1", "z": 345, "w":6)", "\"z\": 345"});
  CHECK(out.holes == std::vector<std::size_t>{3, 1});
}

TEST_CASE("what never repeats stays text: the catalogue is bounded") {
  std::vector<std::string> args;
  for (int i = 0; i < 12'000; ++i) args.push_back("\"x\": \"" + std::to_string(i) + "\"");
  for (int i = 0; i < 3; ++i) args.push_back(R"("late": 5)");
  args.push_back("\"long\": \"" + std::string(kMostShapeText, 'x') + "\"");
  std::string many;
  for (std::size_t i = 0; i <= kMostHoles; ++i) many += (many.empty() ? "\"" : ", \"") + std::to_string(i) + "\": 1";
  args.push_back(many), args.push_back(many);
  const auto read = read_args(args);
  CHECK(read->texts == args);
  CHECK(read->catalog.shapes.size() < 5'000);
  CHECK(read->shapes[12'000] == 0);
  CHECK(read->shapes[12'001] != 0);
  CHECK(read->shapes[12'001] == read->shapes[12'002]);
  CHECK(read->shapes[12'003] == 0);
  CHECK(read->holes[12'005] == kMostHoles);
}

TEST_CASE("a byte that stands for an integer is no integer") {
  Shapes shapes;
  ArgumentShapes finder(shapes);
  CHECK(finder.find("\"a\": \1", {}) == nullptr);
  REQUIRE(finder.find("\"a\": 7", {{5, 1, 7}}) != nullptr);
  CHECK(finder.integers()[0] == 7);
  CHECK(finder.find("\"a\": \1", {}) == nullptr);
}
