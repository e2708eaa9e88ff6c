#include <string>
#include <vector>

#include "../../catch.h"
#include "cli/read/json_stream.h"
#include "read_helpers.h"

using namespace cli;

namespace {

const std::string kText =
    "\xef\xbb\xbf \n{ \"schemaVersion\" : 1, \"name\":\"a \\\"b\\\" ]}\", \"deep\": [[{\"x\":[]}], \"}\"],\r\n"
    "\"systemTraceEvents\": \"ftrace \\\\\\\" [{ text\",\n\"traceEvents\": [ {\"a\": \"}\"} ,\n{ } "
    ",{\"b\":{\"c\":[1]}}], "
    "\"flag\":true }\n ";

struct Walked {
  std::vector<std::string> members, elements;
  std::vector<std::uint64_t> offsets;
};

Walked walk(const std::string& text, std::size_t window, std::size_t piece) {
  JsonStream stream(std::make_unique<TextSource>(text, piece), "x.json", window);
  Walked walked;
  std::string key;
  std::string_view element;
  stream.open();
  while (stream.next_member(key)) {
    walked.members.push_back(key);
    if (key == "systemTraceEvents") {
      stream.skip_value();
    } else if (key != "traceEvents") {
      walked.members.back() += "=" + std::string(stream.value());
    } else {
      stream.enter_array();
      while (stream.next_element(element)) {
        walked.elements.emplace_back(element);
        walked.offsets.push_back(stream.text_offset());
      }
    }
  }
  stream.finish();
  return walked;
}

std::string refusal(const std::string& text, std::size_t window = 16) {
  return message_of([&] { walk(text, window, 7); });
}

}  // namespace

TEST_CASE("members and elements are whole across every window border") {
  const Walked expected = walk(kText, 1 << 20, 1 << 20);
  CHECK(expected.members == std::vector<std::string>{"schemaVersion=1", "name=\"a \\\"b\\\" ]}\"",
                                                     "deep=[[{\"x\":[]}], \"}\"]", "systemTraceEvents", "traceEvents",
                                                     "flag=true"});
  CHECK(expected.elements == std::vector<std::string>{"{\"a\": \"}\"}", "{ }", "{\"b\":{\"c\":[1]}}"});
  for (std::size_t i = 0; i < expected.elements.size(); ++i) {
    CHECK(kText.substr(expected.offsets[i], expected.elements[i].size()) == expected.elements[i]);
  }
  for (std::size_t window = 1; window < kText.size() + 2; ++window) {
    for (std::size_t piece : {1, 2, 3, 64}) {
      const Walked walked = walk(kText, window, piece);
      REQUIRE(walked.members == expected.members);
      REQUIRE(walked.elements == expected.elements);
      REQUIRE(walked.offsets == expected.offsets);
    }
  }
}

TEST_CASE("every truncation is refused at the end of the text") {
  for (std::size_t size = 0; size + 3 < kText.size(); ++size) {  // the last bytes are "}\n "
    const std::string message = refusal(kText.substr(0, size), 1 + size % 20);
    CAPTURE(size, message);
    REQUIRE(message.find("x.json: byte ") == 0);
    REQUIRE(message.find("expected ") != std::string::npos);
  }
}

TEST_CASE("a fault between the elements is named with its offset") {
  const auto starts = [](const std::string& text, const std::string& start) {
    CAPTURE(text, refusal(text));
    CHECK(refusal(text).find(start) == 0);
  };
  starts("", "x.json: byte 0: the JSON text ends here: expected '{' or '['");
  starts("hello", "x.json: byte 0: expected '{' or '['");
  starts("{\"a\":1} x", "x.json: byte 8: expected the end of the file");
  starts("{\"a\":1,}", "x.json: byte 7: expected a member's name");
  starts("{\"a\" 1}", "x.json: byte 5: expected ':'");
  starts("{\"a\":}", "x.json: byte 5: expected a value");
  starts("{\"a\":1 \"b\":2}", "x.json: byte 7: expected ',' or '}'");
  starts("{\"a\":tru}", "x.json: byte 5: expected a value");
  starts("{\"a\":\"x\ny\"}", "x.json: byte 7: expected no raw control character");
  starts("{\"traceEvents\":{}}", "x.json: byte 15: expected '['");
  starts("{\"traceEvents\":[{},]}", "x.json: byte 19: expected '{': an event");
  starts("{\"traceEvents\":[{} {}]}", "x.json: byte 19: expected ',' or ']'");
  starts("{\"traceEvents\":[1]}", "x.json: byte 16: expected '{': an event");
  starts("{\"traceEvents\":[{\"a\":\"]}", "x.json: byte 24: the JSON text ends here: expected the closing quote");
}

TEST_CASE("an item that never ends is refused without holding the whole file") {
  std::string text = "{\"traceEvents\":[{\"name\":\"no quote}, {\n\"name\": 1}";
  const std::size_t fault = text.find('\n');
  text.append(80 << 20, ' ');
  const std::string message = refusal(text, JsonStream::kWindow);
  CHECK(message.find("x.json: byte " + std::to_string(fault) + ": expected no raw control character") == 0);
  std::string endless = "{\"traceEvents\":[{\"name\":\"" + std::string(140 << 20, 'a');
  CHECK(refusal(endless, JsonStream::kWindow).find("x.json: byte 16: expected an event or member of at most 64 MiB") ==
        0);
}

TEST_CASE("a long string that nobody needs takes no memory") {
  const std::string text = "{\"systemTraceEvents\":\"" + std::string(70 << 20, 'a') + "\\\"\", \"b\":2}";
  CHECK(walk(text, 4096, 1 << 20).members == std::vector<std::string>{"systemTraceEvents", "b=2"});
}
