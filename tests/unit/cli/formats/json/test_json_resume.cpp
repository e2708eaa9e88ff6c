// Where reading goes on after damage.
#include <string>

#include "cli/formats/json/json_damage.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"

using namespace cli;

namespace {

// What is found; "" at the end. In a window that is small at first, too.
std::string found_in(const std::string& text, const std::string& gap) {
  std::string found[2];
  for (const std::size_t size : {std::size_t{1}, std::size_t{1} << 20}) {
    Window window(std::make_unique<TextSource>(text), size);
    window.more();
    resume_events(window, gap);
    while (window.more()) continue;
    found[size == 1] = {window.begin(), window.size()};
  }
  CHECK(found[0] == found[1]);
  return found[0];
}

}  // namespace

TEST_CASE("after damage an event is found behind the bytes that separate events, or by its key") {
  const std::string event = R"({"ph": "X"}, 7)";
  CHECK(found_in(R"({"name": "a" b", "args": {"name": 1}},)" + event, "") == event);
  CHECK(found_in("{\"name\": \"a\" b\"\n  ,\n  {\"zz\": 1}", "\n  ,\n  ") == "{\"zz\": 1}");
  CHECK(found_in("{\"name\": \"a\" b\", {\"zz\": 1}, 7", ", ") == "");
  CHECK(found_in(R"({"x": [{"ph": "X"}]},)" + event, "") == event);
  CHECK(found_in(R"({"x": ", {\"ph\": 1}"},)" + event, "") == event);
  CHECK(found_in(R"({"x": 1, [1], 2], {"y": 2}], "traceName": "t"})", "") == R"(], "traceName": "t"})");
  CHECK(found_in(R"({"x": 1}])", "") == "]");
  CHECK(found_in("{" + std::string(5000, 'x') + "," + event, "") == event);
}
