// What is damaged in a Kineto file costs itself and no neighbour.
#include <string>

#include "tests/case_step.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"

using namespace cli;
using namespace cli::kineto;

namespace {

const std::string kTrace = R"({"schemaVersion": 1, "baseTimeNanoseconds": 1759300074000000000, "x": {"y": [1, "]"]},
"traceEvents": [
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel \"\\", "pid": 9, "tid": 9, "ts": 1.001, "dur": 2,
  "args": {"correlation": 5, "s": "\u00e9"}},
 {"ph": "s", "id": 5, "pid": 9, "tid": 9, "ts": 1.001, "cat": "ac2g", "name": "ac2g"},
 {"ph": "B", "name": "b", "pid": 9, "tid": 9, "ts": 2},
 {"ph": "M", "name": "thread_name", "pid": 9, "tid": 9, "args": {"name": "main"}}
], "distributedInfo": {"rank": 1}, "traceName": "t"})";

std::string refusal(const std::string& json, std::size_t window = JsonStream::kWindow) {
  return message_of([&] { read_kineto(json, "t.json", window); });
}

// The first note where `event` stands between two sound ones, which stay.
std::string reason(const std::string& event) {
  const std::string good = R"({"ph":"X","name":"good","ts":1,"dur":1})";
  const auto trace = read_kineto("[" + good + ", " + event + ", " + good + "]");
  CAPTURE(event);
  CHECK(trace->events.size() == 2);
  CHECK(trace->process().lost_unknown_kind == 1);
  CHECK(trace->process().state == RecordingState::recovered);
  REQUIRE(trace->process().notes.size() == 2);
  CHECK(trace->process().notes[1] == "at least 1 event of the file could not be read and is skipped");
  const std::string note = trace->process().notes[0];
  CHECK(note.find("skipped, bytes 42 to ") != std::string::npos);
  const std::size_t at = std::stoul(note.substr(5));
  return std::to_string(static_cast<long>(at) - 42) + note.substr(note.find(':'), note.find(';') - note.find(':'));
}

}  // namespace

TEST_CASE("a trace that is cut anywhere gives what is before the cut") {
  REQUIRE(refusal(kTrace).empty());
  const std::size_t first = kTrace.find("\"baseTime") - 2;  // one member is whole
  for (std::size_t window : {std::size_t{1}, std::size_t{64}}) {
    for (std::size_t size = 0; size < kTrace.size(); size += case_step()) {
      CAPTURE(size, window);
      const std::string text = kTrace.substr(0, size), message = refusal(text, window);
      if (size > kTrace.find("{\"ph\"") && size < kTrace.find(",\n {\"ph\": \"s\"")) {
        REQUIRE(message.find("none of its events can be read") != std::string::npos);
        continue;
      }
      if (size <= first) continue;
      REQUIRE(message.empty());
      const auto trace = read_kineto(text, "t.json", window);
      const auto ends_before = [&](const char* end) { return kTrace.find(end) <= size; };
      const std::size_t whole =
          ends_before(",\n {\"ph\": \"s\"") + ends_before(",\n {\"ph\": \"B\"") + ends_before(",\n {\"ph\": \"M\"");
      REQUIRE(trace->events.size() == whole);
      REQUIRE(trace->process().state == RecordingState::recovered);
      REQUIRE(trace->process().notes.back().find("byte " + std::to_string(size) + ": the JSON text ends here") == 0);
    }
  }
}

TEST_CASE("windows of any size read the same") {
  const auto whole = read_kineto(kTrace);
  for (std::size_t window = 1; window < kTrace.size() + 2; window += case_step()) {
    const auto trace = read_kineto(kTrace, "t.json", window);
    REQUIRE(trace->events.size() == whole->events.size());
    for (std::size_t i = 0; i < whole->events.size(); ++i) {
      REQUIRE(trace->events[i].args == whole->events[i].args);
      REQUIRE(trace->events[i].event.start_ns == whole->events[i].event.start_ns);
      REQUIRE(trace->name(i) == whole->name(i));
    }
  }
}

TEST_CASE("a broken event is named with the byte and what was expected") {
  CHECK(reason(R"({"ph":"X","ts":})") == "15: expected a value");
  CHECK(reason(R"({"ph":"X" "ts":1})") == "10: expected ',' or '}'");
  CHECK(reason(R"({"ph":"X","name":"a"}" b","ts":1})") == "21: expected ',' or ']'");
  CHECK(reason(R"({"ph":"X","ts":1,"dur":1,"name":"a"} b"})") == "36: expected ',' or ']'");
  CHECK(reason(R"({"ph":"X","ts":"soon"})") == "16: expected \"ts\", a number of microseconds, in this event");
  CHECK(reason(R"({"ph":"X","ts":1e40})").find("15: expected \"ts\"") == 0);
  CHECK(reason(R"({"ph":"X"})").find("0: expected \"ts\"") == 0);
  CHECK(reason(R"({"ph":"X","ts":1,"dur":"long"})").find("24: expected \"dur\"") == 0);
  CHECK(reason(R"({"ts":1})").find("0: expected \"ph\"") == 0);
  CHECK(reason(R"({"ph":"XX","ts":1})").find("7: expected \"ph\"") == 0);
  CHECK(reason(R"({"ph":"X","ts":1,"args":{"Process Group Description": ,"a":1}})") == "54: expected a value");
  CHECK(reason(R"({"ph":"X","ts":1,"ph":"X","ts":2})") == "0: expected each member of an event once");
  CHECK(reason("garbage") == "0: expected '{': an event");
  CHECK(reason("[1]") == "0: expected '{': an event");
}

TEST_CASE("an event with a fault that writers are known for is kept as it was meant, and the fault is counted") {
  const std::string good = R"({"ph":"i","name":"good","ts":1})";
  const auto kept = [&](const std::string& event, const std::string& gap) {
    const auto trace = read_kineto("[" + good + gap + good + gap + event + gap + good + "]");
    CAPTURE(event, gap, trace->process().notes);
    CHECK((trace->events.size() == 4 && trace->process().lost_unknown_kind == 0));
    CHECK(trace->process().state == RecordingState::recovered);
    REQUIRE(trace->process().notes.size() == 2);
    CHECK(trace->process().notes[1] == "1 event was invalid JSON and is repaired as it was meant");
    return std::string(trace->name(2)) + "|" +
           trace->process().notes[0].substr(trace->process().notes[0].find(':') + 2);
  };
  for (const char* gap : {", ", ",\n  "}) {
    CHECK(kept("{\"ph\":\"i\",\"ts\":2,\"name\":\"a\x01z\"}", gap) ==
          "a\x01z|a raw control character in a string; the event is kept");
    CHECK(kept(R"({"ph":"i","ts":2,"name":"a" b","dur":1})", ",\n") ==
          "a\" b|a quote in a string is not escaped; the event is kept");
    CHECK(kept(R"({"ph":"i","ts":2,"name":"C:\Uk","args":{"a":-Infinity}})", gap) ==
          "C:\\Uk|a backslash in a string is not escaped; the event is kept");
    CHECK(kept("{\"ph\":\"i\",\"ts\":2,\"name\":\"\xe9\"}", gap) ==
          "\u00e9|bytes in a string that are not UTF-8; the event is kept");
  }
  CHECK(kept(R"({"ph":"i","ts":2,"name":"C:\dir\","dur":1})", ",\n") ==
        "C:\\dir\\|a backslash in a string is not escaped; the event is kept");
}

TEST_CASE("an event that is sound JSON but means nothing is not searched for others") {
  const auto trace = read_events(R"({"ph":"X","ts":1,"name":"a"},
{"ph":"X","tz":2,"name":"b","args":{"l":[{"x":1},{"ph":"X","ts":9,"name":"inner"}]}},{"ph":"X","ts":3,"name":"c"},
{"tz":2,"args":{"ph":"X"}},{"ph":"X","ts":4,"name":"d"})");
  REQUIRE(trace->events.size() == 3);
  CHECK((trace->name(0) == "a" && trace->name(1) == "c" && trace->name(2) == "d"));
  CHECK(trace->process().lost_unknown_kind == 2);
}

TEST_CASE("events without meaning in a row are counted one by one, and nothing in them is taken for an event") {
  const std::string empty = R"({"tz":2,"args":{"l":[{"x":1},{"ph":"X","ts":9,"name":"inner"}]}})";
  for (const char* gap : {", ", ",\n  "}) {
    const auto trace = read_events(R"({"ph":"X","ts":1,"name":"a"})" + (gap + empty + gap + empty + gap) + empty + gap +
                                   R"({"ph":"X","ts":4,"name":"d"})");
    CAPTURE(gap);
    REQUIRE(trace->events.size() == 2);
    CHECK((trace->name(0) == "a" && trace->name(1) == "d"));
    CHECK(trace->process().lost_unknown_kind == 3);
  }
}

TEST_CASE("an event that has lost its begin costs none before it") {
  const std::string good = R"({"ph":"s","id":1,"ts":1})", name = R"("}, {\"ph\": \"X\"")", gap = ",\n";
  for (const char* begin : {"", "~", "\x02", "@#", "  ~ "}) {
    const std::string bad = begin + (R"("ph": "X", "name": )" + name) + R"(, "ts": 2, "dur": 1})";
    const auto trace = read_events(good + gap + good + gap + bad + gap + good);
    CAPTURE(begin, trace->process().notes);
    CHECK(trace->events.size() == 3);
    CHECK(trace->process().lost_unknown_kind == 1);
  }
}

TEST_CASE("the bracket that closes a bare array is optional") {
  const std::string events = "[{\"ph\":\"X\",\"ts\":1,\"dur\":1},\n{\"ph\":\"X\",\"ts\":2,\"dur\":1}";
  for (const char* end : {"]", "", "\n", ",", ",\n", ",\n]", ",\n{}]", ",{ }\n]\n", ",{}"}) {
    const auto trace = read_kineto(events + end);
    CAPTURE(end, trace->process().notes);
    CHECK(trace->events.size() == 2);
    CHECK(trace->process().notes.empty());
    CHECK(trace->process().state != RecordingState::recovered);
  }
  CHECK(read_kineto(events + ",{},{\"ph\":\"X\",\"ts\":3,\"dur\":1}]")->process().lost_unknown_kind == 0);
  CHECK(read_kineto(events + ",{\"ph\"")->process().state == RecordingState::recovered);
  CHECK(read_kineto("{\"traceEvents\": " + events)->process().state == RecordingState::recovered);
}

TEST_CASE("a good JSON file that is no trace is said to be so") {
  CHECK(refusal(R"({"a":1})").find("JSON, but not a trace: expected a member \"traceEvents\"") != std::string::npos);
  CHECK(refusal(R"({"a":1)").find("JSON, but not a trace: expected a member \"traceEvents\"") != std::string::npos);
  CHECK(refusal(R"({"traceEvents":{}})").find("a trace in a trace") != std::string::npos);
}

TEST_CASE("what is wrong beside the events is noted") {
  const std::string events = R"("traceEvents":[{"ph":"X","name":"n","ts":1,"dur":1}])";
  const auto only_note = [&](const std::string& json) {
    const auto trace = read_kineto(json);
    CAPTURE(json);
    CHECK(trace->events.size() == 1);
    CHECK(trace->process().state == RecordingState::recovered);
    CHECK(trace->process().lost_unknown_kind == 0);
    REQUIRE(trace->process().notes.size() == 1);
    return trace->process().notes[0];
  };
  CHECK(only_note(R"({"baseTimeNanoseconds":"x",)" + events + "}").find("byte 23: expected an integer") == 0);
  CHECK(only_note("{" + events + "} trailing").find("expected the end of the file") != std::string::npos);
  CHECK(only_note("{" + events + ",\"a\":}").find("the member \"a\" is skipped") != std::string::npos);
  CHECK(only_note(R"({"distributedInfo":{"Process Group Description": , "rank": 3},)" + events + "}")
            .find("byte 49: expected a value; the member \"distributedInfo\" is skipped") == 0);
}

TEST_CASE("the rank of a damaged header is found") {
  const auto rank = [](const std::string& info) {
    return read_kineto("{\"distributedInfo\": " + info + R"(, "traceEvents":[{"ph":"X","ts":1,"dur":1}]})")
        ->process()
        .rank;
  };
  CHECK(rank(R"({"rank": 3, "pg_desc": , "a": 1})") == 3);
  CHECK(rank(R"({"pg_desc": , "rank": 3})") == 3);
  CHECK(rank(R"({"pg_desc": "a "quoted"", "rank": "4"})") == 4);
  CHECK(rank(R"({"pg_desc": "a)") == -1);
}

TEST_CASE("the first five of many are named, and all are counted") {
  std::string events;
  for (int i = 0; i < 8; ++i) events += "{\"ph\":\"X\",\"ts\":},\n";
  const auto trace = read_kineto("[" + events + R"({"ph":"X","ts":1,"dur":1}])");
  CHECK(trace->events.size() == 1);
  CHECK(trace->process().lost_unknown_kind == 8);
  REQUIRE(trace->process().notes.size() == 6);
  CHECK(trace->process().notes[5] ==
        "at least 8 events of the file could not be read and are skipped (the first 5 are listed)");
}

TEST_CASE("more open slices than are remembered are passed on") {
  std::string events;
  for (int i = 0; i < 66000; ++i) events += R"({"ph":"B","name":"b","pid":1,"tid":1,"ts":1},)";
  events.pop_back();
  const auto trace = read_kineto("[" + events + "]");
  CHECK(trace->events.size() == 66000);
  CHECK(trace->process().notes == std::vector<std::string>{"66000 slices (B) have no end (E)"});
}
