#include <string>
#include <vector>

#include "cli/formats/json/json_stream.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"
#include "tests/unit/cpu_time.h"

using namespace cli;

namespace {

const std::string kText =
    "\xef\xbb\xbf \n{ \"schemaVersion\" : 1, \"name\":\"a \\\"b\\\" ]}\", \"deep\": [[{\"x\":[]}], \"}\"],\r\n"
    "\"systemTraceEvents\": \"ftrace \\\\\\\" [{ text\",\n\"traceEvents\": [ {\"a\": \"}\"} ,\n{ } "
    ",{\"b\":{\"c\":[1]}}], "
    "\"flag\":true }\n ";

struct Walked {
  std::vector<std::string> members, elements, notes;
  std::vector<std::uint64_t> offsets;
};

Walked walk(const std::string& text, std::size_t window, std::size_t piece = 7) {
  JsonStream stream(std::make_unique<TextSource>(text, piece), "x.json", window);
  Walked walked;
  std::string key;
  std::string_view element;
  stream.open();
  while (stream.next_member(key)) {
    walked.members.push_back(key);
    if (key != "traceEvents") {
      const JsonValue value = stream.value();
      walked.members.back() += (value.form == JsonValue::Form::good ? "=" : "?") + std::string(value.text);
    } else {
      stream.enter_array();
      while (stream.next_element(element)) {
        walked.elements.emplace_back(element);
        walked.offsets.push_back(stream.text_offset());
      }
    }
  }
  stream.finish();
  walked.notes = stream.damage().notes();
  return walked;
}

// All that was said, or why the text was refused.
std::string said(const std::string& text) {
  std::string all;
  const std::string refused = message_of([&] {
    for (const std::string& note : walk(text, 16).notes) all += note + "\n";
  });
  return refused + all;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("members and elements are whole across every window border") {
  const Walked expected = walk(kText, 1 << 20, 1 << 20);
  CHECK(expected.members == Texts{"schemaVersion=1", "name=\"a \\\"b\\\" ]}\"", "deep=[[{\"x\":[]}], \"}\"]",
                                  "systemTraceEvents=\"ftrace \\\\\\\" [{ text\"", "traceEvents", "flag=true"});
  CHECK(expected.elements == Texts{"{\"a\": \"}\"}", "{ }", "{\"b\":{\"c\":[1]}}"});
  CHECK(expected.notes.empty());
  for (std::size_t i = 0; i < expected.elements.size(); ++i) {
    CHECK(kText.substr(expected.offsets[i], expected.elements[i].size()) == expected.elements[i]);
  }
  for (std::size_t window = 1; window < kText.size() + 2; ++window) {
    for (std::size_t piece : {1, 2, 3, 64}) {
      const Walked walked = walk(kText, window, piece);
      REQUIRE(walked.members == expected.members);
      REQUIRE(walked.elements == expected.elements);
      REQUIRE(walked.offsets == expected.offsets);
      REQUIRE(walked.notes.empty());
    }
  }
}

TEST_CASE("what is before a cut is handed out, and the cut is named") {
  for (std::size_t size = 6; size + 3 < kText.size(); ++size) {  // from the first bracket; the last bytes are "}\n "
    const Walked walked = walk(kText.substr(0, size), 1 + size % 20);
    CAPTURE(size, walked.notes);
    const std::string end = "byte " + std::to_string(size) + ": the JSON text ends here, expected ";
    REQUIRE_FALSE(walked.notes.empty());
    REQUIRE(walked.notes.back().find(end) == 0);
    std::size_t whole = 0;
    for (const char* last : {"{\"a\": \"}\"}", "{ }", "{\"b\":{\"c\":[1]}}"}) {
      whole += kText.find(last) + std::string(last).size() <= size;
    }
    REQUIRE(walked.elements.size() == whole);
  }
}

TEST_CASE("a text that is no JSON is refused with its offset") {
  CHECK(said("").find("x.json: byte 0: the JSON text ends here: expected '{' or '['") == 0);
  CHECK(said("hello").find("x.json: byte 0: expected '{' or '['") == 0);
  CHECK(said("  hello").find("x.json: byte 2: expected '{' or '['") == 0);
}

TEST_CASE("a fault beside the events is named with its offset") {
  const auto starts = [](const std::string& text, const std::string& start) {
    CAPTURE(text, said(text));
    CHECK(said(text).find(start) == 0);
  };
  starts("{\"a\":1} x", "byte 8: expected the end of the file");
  starts("{\"a\":1,}", "");
  starts("{\"a\" 1}", "byte 5: expected ':'");
  starts("{\"a\":}", "byte 5: expected a value; the member \"a\" is skipped");
  starts("{\"a\":1 \"b\":2}", "byte 7: expected ',' or '}'");
  starts("{\"a\":tru}", "byte 5: expected a value");
  starts("{\"a\":\"x\ny\"}", "byte 7: expected no raw control character");
}

TEST_CASE("a damaged member takes no other with it") {
  const std::string head = "{\"schemaVersion\": 1, \"distributedInfo\": ", tail = ", \"traceName\": 2, \"x\": 3}";
  for (const char* bad : {"{\"rank\": 1, \"b\": , \"c\": 2}", "{\"a\": \"x\ny\"}", "{\"a\": \"b\" c\"}", "\"un", "}",
                          "", "{\"a\": [1}", "{\"a\": [1}]}", "nan"}) {
    const Walked walked = walk(head + bad + tail, 16);
    CAPTURE(bad, walked.members, walked.notes);
    REQUIRE(walked.members.size() >= 3);
    CHECK(walked.members.front() == "schemaVersion=1");
    CHECK(walked.members[walked.members.size() - 2] == "traceName=2");
    CHECK(walked.members.back() == "x=3");
    REQUIRE_FALSE(walked.notes.empty());
    CHECK(walked.notes[0].find("the member \"distributedInfo\" is skipped") != std::string::npos);
  }
}

TEST_CASE("a bracket that a member before lacks does not hide the events") {
  for (const char* bad : {"{\"rank\": 1", "[1", "\"a", "{\"a\": {\"b\": 1}"}) {
    const Walked walked = walk(std::string("{\"distributedInfo\": ") + bad + ", \"traceEvents\": [{}, {}]}", 16);
    CAPTURE(bad, walked.notes);
    CHECK(walked.elements == Texts{"{}", "{}"});
    CHECK(walked.notes.size() == 1);
  }
}

TEST_CASE("a sound member that holds a member traceEvents is a member as others") {
  for (const char* tail : {"}", "} ", ", \"x\": 1}"}) {
    const Walked walked = walk(std::string(R"({"cfg": {"traceEvents": [1]}, "y": {"traceEvents": []})") + tail, 16);
    CAPTURE(tail, walked.notes);
    CHECK(walked.notes.empty());
    REQUIRE(walked.members.size() >= 2);
    CHECK(walked.members[0] == R"(cfg={"traceEvents": [1]})");
  }
  const Walked walked = walk(R"({"cfg": {"traceEvents": [1]}, "rank": 3, "traceEvents": [{}, {}]})", 16);
  CHECK(walked.notes.empty());
  CHECK(walked.members == Texts{R"(cfg={"traceEvents": [1]})", "rank=3", "traceEvents"});
  CHECK(walked.elements == Texts{"{}", "{}"});
}

TEST_CASE("commas that are missing or too many cost nothing") {
  const auto elements = [](const std::string& events) { return walk("{\"traceEvents\":[" + events + "]}", 16); };
  for (const char* events :
       {"{\"a\":1}{\"b\":2}", ",{\"a\":1},{\"b\":2}", "{\"a\":1},{\"b\":2},", "{\"a\":1},,{\"b\":2}"}) {
    const Walked walked = elements(events);
    CAPTURE(events, walked.notes);
    CHECK(walked.elements == Texts{"{\"a\":1}", "{\"b\":2}"});
    REQUIRE(walked.notes.size() == 1);
    CHECK(walked.notes[0].find("no event is lost") != std::string::npos);
  }
  CHECK(elements("{}{}").notes[0].find("byte 18: expected ','") == 0);
}

TEST_CASE("a missing bracket behind the events costs none of them and no member") {
  const Walked member = walk(R"({"traceEvents": [{"a":1}, {"b":2}
, "rank": 3, "x": {"y": 1}})",
                             16);
  CHECK(member.elements == Texts{"{\"a\":1}", "{\"b\":2}"});
  CHECK(member.members == Texts{"traceEvents", "rank=3", "x={\"y\": 1}"});
  REQUIRE(member.notes.size() == 1);
  CHECK(member.notes[0] == "byte 36: expected ']'; no event is lost");
  const Walked end = walk("{\"traceEvents\": [{\"a\":1}, {\"b\":2}}\n", 16);
  CHECK(end.elements == Texts{"{\"a\":1}", "{\"b\":2}"});
  CHECK(end.notes == Texts{"byte 33: expected ']'; no event is lost"});
}

TEST_CASE("time grows with the text where every member is broken", "[slow]") {
  const auto cpu_ns = [](std::size_t members) {
    std::string text = "{";
    for (std::size_t i = 0; i < members; ++i) text += "\"host_name\": {x, ";
    const std::uint64_t begin_ns = thread_cpu_ns();
    walk(text, JsonStream::kWindow, 1 << 20);
    return thread_cpu_ns() - begin_ns;
  };
  CHECK(cpu_ns(32'000) < 8 * cpu_ns(4'000) * 4);  // 8 times the text; 64 times the work, were it quadratic
}

TEST_CASE("an event that never ends is given up without holding the whole file", "[slow]") {
  std::string text = "{\"traceEvents\":[{\"name\":\"no quote}, {\n\"name\": 1}";
  const std::size_t fault = text.find('\n');
  text.append(80 << 20, ' ');
  const Walked walked = walk(text, JsonStream::kWindow, 1 << 20);
  CHECK(walked.notes[0].find("byte " + std::to_string(fault) + ": expected no raw control character") == 0);
  const std::string endless = "{\"traceEvents\":[{\"name\":\"" + std::string(140 << 20, 'a') + "\"},\n{\"ph\":\"X\"}]}";
  const Walked ended = walk(endless, JsonStream::kWindow, 1 << 20);
  CHECK(ended.notes[0].find("byte 16777232: expected the closing quote") == 0);
  CHECK(ended.elements == Texts{"{\"ph\":\"X\"}"});
}

TEST_CASE("a long member that nobody needs takes no memory", "[slow]") {
  const std::string large = "\"" + std::string(70 << 20, 'a') + "\\\"\"";
  const Walked walked = walk("{\"systemTraceEvents\":" + large + ", \"l\":[" + large + ",{}], \"b\":2}", 4096, 1 << 20);
  CHECK(walked.members == Texts{"systemTraceEvents?", "l?", "b=2"});
  CHECK(walked.notes.empty());
}
