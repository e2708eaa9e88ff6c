#include <string>

#include "../../catch.h"
#include "read_helpers.h"

using namespace cli;

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

// The message after the path.
std::string reason(const std::string& events) {
  const std::string message = refusal("[" + events + "]");
  return message.substr(std::min(message.find("byte "), message.size()));
}

}  // namespace

TEST_CASE("every truncation is refused with a reason, never read") {
  REQUIRE(refusal(kTrace).empty());
  for (std::size_t window : {std::size_t{1}, std::size_t{64}, JsonStream::kWindow}) {
    for (std::size_t size = 0; size < kTrace.size(); ++size) {
      const std::string message = refusal(kTrace.substr(0, size), window);
      CAPTURE(size, window, message);
      REQUIRE(message.find("t.json: byte ") != std::string::npos);
      REQUIRE(message.find("expected ") != std::string::npos);
    }
  }
}

TEST_CASE("windows of any size read the same") {
  const auto whole = read_kineto(kTrace);
  for (std::size_t window = 1; window < kTrace.size() + 2; ++window) {
    const auto trace = read_kineto(kTrace, "t.json", window);
    REQUIRE(trace->events.size() == whole->events.size());
    for (std::size_t i = 0; i < whole->events.size(); ++i) {
      REQUIRE(trace->events[i].args == whole->events[i].args);
      REQUIRE(trace->events[i].event.start_ns == whole->events[i].event.start_ns);
      REQUIRE(trace->name(i) == whole->name(i));
    }
  }
}

TEST_CASE("every single wrong byte is survived") {
  int refused = 0;
  for (std::size_t at = 0; at < kTrace.size(); ++at) {
    for (char c : {'\0', '"', '{', '}', ',', '\n', '\x80', '9'}) {
      std::string damaged = kTrace;
      damaged[at] = c;
      refused += !refusal(damaged, 32).empty();
    }
  }
  CHECK(refused > static_cast<int>(kTrace.size()));
}

TEST_CASE("a broken event is named with the byte and what was expected") {
  CHECK(reason("{\"name\":\"a\nb\"}").find("byte 11: expected no raw control character in a string") == 0);
  CHECK(reason(R"({"ph":"X","ts":})").find("byte 16: expected a value") == 0);
  CHECK(reason(R"({"ph":"X","name":"a" "b"})").find("byte 22: expected ',' or '}'") == 0);
  CHECK(reason(R"({"ph":"X","args":{"a":nan}})").find("byte 23: expected a value") == 0);
  CHECK(reason("{\"ph\":\"X\",\"name\":\"\xff\"}").find("byte 19: expected UTF-8") == 0);
  CHECK(reason(R"({"ph":"X","name":"a","ts":1},,)").find("byte 30: expected '{': an event") == 0);
  CHECK(reason(R"({"ph":"X","ts":"soon"})").find("byte 17: expected \"ts\", a number of microseconds") == 0);
  CHECK(reason(R"({"ph":"X","ts":1e40})").find("byte 16: expected \"ts\"") == 0);
  CHECK(reason(R"( {"ph":"X"})").find("byte 2: expected \"ts\"") == 0);
  CHECK(reason(R"({"ph":"X","ts":1,"dur":"long"})").find("byte 25: expected \"dur\"") == 0);
  CHECK(reason(R"({"ts":1})").find("byte 1: expected \"ph\"") == 0);
  CHECK(reason(R"({"ph":"XX","ts":1})").find("byte 8: expected \"ph\"") == 0);
}

TEST_CASE("a good JSON file that is no trace is said to be so") {
  CHECK(refusal(R"({"a":1})").find("JSON, but not a trace: expected a member \"traceEvents\"") != std::string::npos);
  CHECK(refusal(R"({"traceEvents":{}})").find("expected '[': an array of events") != std::string::npos);
  CHECK(refusal(R"({"baseTimeNanoseconds":"x","traceEvents":[]})").find("byte 23: expected an integer") !=
        std::string::npos);
  CHECK(refusal(R"({"traceEvents":[]} trailing)").find("byte 19: expected the end of the file") != std::string::npos);
}

TEST_CASE("more open slices than are remembered are passed on") {
  std::string events;
  for (int i = 0; i < 66000; ++i) events += R"({"ph":"B","name":"b","pid":1,"tid":1,"ts":1},)";
  events.pop_back();
  const auto trace = read_kineto("[" + events + "]");
  CHECK(trace->events.size() == 66000);
  CHECK(trace->process().notes == std::vector<std::string>{"66000 slices (B) have no end (E)"});
}
