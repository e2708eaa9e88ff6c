#include <random>
#include <string>

#include "cli/formats/json/byte_source.h"
#include "cli/formats/json/json_check.h"
#include "cli/formats/kineto/fields.h"
#include "tests/case_step.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::kineto;

namespace {

const std::string kEvent =
    R"({ "ph": "X", "cat":"kernel","name" : "f<\"a\">\u00e9", "pid":0,"tid":7, "ts":1.250,"dur": 2,"id":null,
 "args": { "correlation":12, "grid":[1,[2,{}],3], "device": 1 ,"x": -1.5e-3, "ok":true } , "s":"t"})";

bool parses(const std::string& text) {
  EventParser parser;
  RawEvent event;
  const std::string padded = text + std::string(Window::kPadding, '}');
  return parser.parse(std::string_view(padded).substr(0, text.size()), event);
}

}  // namespace

TEST_CASE("an event is picked apart into the words of its text") {
  EventParser parser;
  RawEvent event;
  const std::string padded = kEvent + std::string(Window::kPadding, '\0');
  REQUIRE(parser.parse(std::string_view(padded).substr(0, kEvent.size()), event));
  CHECK(event.ph.text == "X");
  CHECK(event.cat.text == "kernel");
  CHECK(event.name.text == R"(f<\"a\">\u00e9)");
  CHECK(event.ts.text == "1.250");
  CHECK(event.ts.is_number());
  CHECK(event.id.empty());
  CHECK(event.args == R"("correlation":12, "grid":[1,[2,{}],3], "device": 1 ,"x": -1.5e-3, "ok":true)");
  CHECK(event.correlation.text == "12");
  CHECK(event.device.text == "1");
  CHECK(event.bytes.form == JsonScalar::Form::absent);
}

TEST_CASE("args of other forms are seen") {
  EventParser parser;
  RawEvent event;
  const auto parse = [&](std::string text) {
    const std::size_t size = text.size();
    text.append(Window::kPadding, '\0');
    REQUIRE(parser.parse(std::string_view(text).substr(0, size), event));
    return event.args;
  };
  CHECK(parse(R"({"args":{}})").empty());
  CHECK(event.has_args);
  CHECK(parse(R"({"args":{ }})").empty());
  parse(R"({"args":null})");
  CHECK_FALSE(event.has_args);
  CHECK_FALSE(event.odd_args);
  parse(R"({"args":[1]})");
  CHECK(event.odd_args);
  parse(R"({"args":"x","ts":{"a":1}})");
  CHECK(event.odd_args);
  CHECK(event.ts.empty());
}

TEST_CASE("the fast parser accepts exactly what the slow judge accepts", "[slow]") {
  const std::string alphabet = "{}[]\",:\\0129.eE+-tfn \n\x01\x80\xc3u/\x7f";
  std::mt19937 random(3);
  int accepted = 0;
  for (std::size_t round = 0; round < few(200'000); ++round) {
    std::string text = kEvent;
    for (unsigned edits = 1 + random() % 2; edits > 0; --edits) {
      const std::size_t at = 1 + random() % (text.size() - 2);
      const char c = alphabet[random() % alphabet.size()];
      if (random() % 3 == 0)
        text.erase(at, 1);
      else if (random() % 2 == 0)
        text[at] = c;
      else
        text.insert(at, 1, c);
    }
    const bool sound = !find_json_fault(text);
    accepted += sound;
    CAPTURE(text);
    REQUIRE(parses(text) == sound);
  }
  CHECK(accepted > 1000);
  CHECK(accepted < 199000);
}

TEST_CASE("what simdjson passes over is checked too") {
  for (const char* bad :
       {R"({"args":{"a":tru}})", R"({"args":{"a":01}})", R"({"args":{"a":[1,]}})", R"({"args":{"a":"\x"}})",
        R"({"args":{"a\q":1}})", R"({"x":[1 2]})", R"({"x":nul})", R"({"x":{"a":-}})", R"({"x":1.})", R"({"x":NaN})",
        R"({"\q":1})", R"({"x":"a"b})", R"({"x":1"b"})", R"({"x":[}])", R"({"x":{"a"}})", R"({"x":{,}})", R"({,})"}) {
    CAPTURE(bad);
    CHECK_FALSE(parses(bad));
  }
  CHECK(parses("{}"));
  CHECK(parses(R"({"n\u0061me":"x"})"));
}

TEST_CASE("brackets nest as deep as the judge says") {
  const auto nested = [](int depth) {
    const auto count = static_cast<std::size_t>(depth);
    return "{\"args\":{\"a\":" + std::string(count - 2, '[') + std::string(count - 2, ']') + "}}";
  };
  CHECK(parses(nested(kMaxJsonDepth)));
  CHECK_FALSE(parses(nested(kMaxJsonDepth + 1)));
  CHECK_FALSE(parses(nested(100000)));
}
