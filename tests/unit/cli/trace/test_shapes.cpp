#include "cli/trace/shapes.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

std::string with_holes(std::string text) {
  for (char& c : text) c = c == '~' ? kHole : c;
  return text;
}

std::string together(const Shape& shape, const std::vector<std::int64_t>& integers) {
  std::string out = "{";
  shape.put_together(integers.data(), out);
  return out + "}";
}

}  // namespace

TEST_CASE("shapes: text and integers are the same text again") {
  Shapes shapes;
  const Shape& two = shapes.intern(with_holes("\"a\": ~, \"b 7\": [1], \"c\":~"));
  CHECK(together(two, {0, -12}) == "{\"a\": 0, \"b 7\": [1], \"c\":-12}");
  CHECK(together(two, {INT64_MIN, INT64_MAX}) ==
        "{\"a\": -9223372036854775808, \"b 7\": [1], \"c\":9223372036854775807}");
  CHECK(together(shapes.intern(with_holes("~")), {5}) == "{5}");
  CHECK(together(shapes.intern("\"none\": 1.5"), {}) == "{\"none\": 1.5}");
  CHECK(together(shapes[0], {}) == "{}");
}

TEST_CASE("shapes: kept once, by dense ids, where they lie") {
  Shapes shapes;
  CHECK(shapes.find("x") == nullptr);
  const Shape& first = shapes.intern("x");
  for (int i = 0; i < 10'000; ++i) shapes.intern(std::to_string(i));
  CHECK(&shapes.intern("x") == &first);
  CHECK(shapes.find("x") == &first);
  CHECK(first.id == 1);
  CHECK(&shapes[1] == &first);
  CHECK(first.text == "x");
  CHECK(shapes.size() == 10'002);
  CHECK(shapes.find("") == nullptr);
}

TEST_CASE("shapes: a hole's slot is that of the key before it") {
  Shapes shapes;
  const auto slot = [&](const std::string& text) {
    return static_cast<int>(shapes.intern(with_holes(text)).holes.back().slot);
  };
  CHECK(slot("\"External id\": ~") == slot("\"Ev Idx\": ~, \"External id\":~"));
  CHECK(slot("\"External id\": ~") != slot("\"Ev Idx\": ~"));
  CHECK(slot("\"a\": ~") == 0xe40c292c % 256);  // FNV-1a of "a"
  CHECK(slot("~") == 0x811c9dc5 % 256);         // of ""
  CHECK(slot("\"~") == 0x811c9dc5 % 256);
}
