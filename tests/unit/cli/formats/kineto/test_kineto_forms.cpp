#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "cli/formats/json/json_check.h"
#include "cli/formats/json/json_values.h"
#include "cli/formats/kineto/forms.h"
#include "cli/formats/kineto/shapes.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"

using namespace cli;
using namespace cli::kineto;

namespace {

template <typename Take>
std::string taken(Take take, std::string text) {
  const std::size_t size = text.size();
  text.append(16, '\0');
  const char* at = text.data();
  std::int64_t value = 0;
  if (!take(at, value)) return "no";
  return std::to_string(value) + "/" + std::to_string(size - static_cast<std::size_t>(at - text.data()));
}
std::string time_in(const std::string& text) { return taken(take_plain_time, text); }
std::string integer_in(const std::string& text) { return taken(take_plain_integer, text); }

std::size_t digits_at(const std::string& text, std::size_t at) {
  return std::min(text.find_first_not_of("0123456789", at), text.size()) - at;
}
bool goes_on(const std::string& text, std::size_t at) {
  return at < text.size() && std::string_view(".eE0123456789").find(text[at]) != text.npos;
}
std::string taken_up_to(std::int64_t value, const std::string& text, std::size_t at) {
  return std::to_string(value) + "/" + std::to_string(text.size() - at);
}

std::string slow_time_in(const std::string& text) {
  std::size_t at = digits_at(text, 0);
  if (at == 0 || at > 16 || (at > 1 && text[0] == '0') || (at == 16 && text[0] == '9')) return "no";
  std::string ns = text.substr(0, at), decimals;
  if (at < text.size() && text[at] == '.') {
    decimals = text.substr(at + 1, digits_at(text, at + 1));
    at += 1 + decimals.size();
    if (decimals.empty() || decimals.size() > 3) return "no";
  }
  return goes_on(text, at) ? "no" : taken_up_to(std::stoll(ns + (decimals + "000").substr(0, 3)), text, at);
}

std::string slow_integer_in(const std::string& text) {
  const std::size_t begin = text.starts_with('-') ? 1 : 0, at = begin + digits_at(text, begin);
  std::int64_t value = 0;
  return read_plain_integer(text.substr(0, at), value) && !goes_on(text, at) ? taken_up_to(value, text, at) : "no";
}

// Three times each; of `alike` ones the form is known, for their first members are of the same names.
std::string three_rounds(const std::vector<std::string>& events, bool alike) {
  std::string text;
  int unique = 0;
  for (int round = 0; round < 3; ++round) {
    for (const std::string& event : events) {
      text += (text.empty() ? "\n{\"" : ",\n{\"") + std::to_string(alike ? 0 : ++unique) + "\": 0, " + event.substr(1);
    }
  }
  return told(
      *read_kineto("{\"deviceProperties\": [{\"id\": 0, \"name\": \"G\"}], \"traceEvents\": [" + text + "\n]}"));
}

void check_all_the_same(const std::vector<std::string>& events) {
  CHECK(three_rounds(events, true) == three_rounds(events, false));
}

std::string event(const std::string& members) {
  return R"({"ph": "X", "cat": "kernel", "name": "k", )" + members + "}";
}

}  // namespace

TEST_CASE("plain times are read to the nanosecond, and what is not plain is left to others") {
  CHECK(time_in("0") == "0/0");
  CHECK(time_in("12") == "12000/0");
  CHECK(time_in("12.5,") == "12500/1");
  CHECK(time_in("12.05}") == "12050/1");
  CHECK(time_in("0.001 ") == "1/1");
  CHECK(time_in("12345678") == "12345678000/0");
  CHECK(time_in("123456789.999") == "123456789999/0");
  CHECK(time_in("1712195495532814.178,") == "1712195495532814178/1");
  CHECK(time_in("8999999999999999.999") == "8999999999999999999/0");
  for (const char* text :
       {"", "-1", "+1", ".5", "1.", "1.x", "1.2345", "1e3", "1.5e3", "1.500E1", "01", "00.5", "9000000000000000",
        "12345678901234567", "\"1\"", "123456789012345678901234567890", " 1", "1.5.5"}) {
    CHECK(time_in(text) == "no");
  }
}

TEST_CASE("plain integers are read within 64 bits") {
  for (const char* text : {"0", "7", "-7", "12345678", "-123456789", "9223372036854775807", "-9223372036854775808"}) {
    CHECK(integer_in(text) == std::string(text) + "/0");
    CHECK(integer_in(std::string(text) + ",1") == std::string(text) + "/2");
  }
  for (const char* text :
       {"", "-", "-0", "00", "07", "-07", "+7", "1.0", "1e3", "1E3", "9223372036854775808", "-9223372036854775809",
        "18446744073709551616", "99999999999999999999", "abc", "\"7\"", " 7"}) {
    CHECK(integer_in(text) == "no");
  }
}

TEST_CASE("plain numbers of any digits, whatever follows them, are read as one byte after the other") {
  std::mt19937 random(7);
  const std::string others = ".-+eE ,}\n\"/:\x80\xb5\xff";
  const auto some = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
  for (int i = 0; i < 200'000; ++i) {
    std::string text(some(2) == 0 ? 0 : some(3) == 0, '-');
    for (std::size_t digits = some(22); digits > 0; --digits)
      text += static_cast<char>('0' + (some(8) == 0 ? 0 : some(10)));
    if (some(2) == 0) text += '.';
    for (std::size_t digits = some(6); digits > 0; --digits) text += static_cast<char>('0' + some(10));
    for (std::size_t behind = some(12); behind > 0; --behind)
      text += some(2) == 0 ? static_cast<char>(random()) : others[some(others.size())];
    INFO(text);
    CHECK(time_in(text) == slow_time_in(text));
    CHECK(integer_in(text) == slow_integer_in(text));
  }
}

TEST_CASE("any number of JSON is passed, and nothing else") {
  const auto pass = [](const char*& at, std::int64_t& value) {
    value = 0;
    return pass_json_number(at);
  };
  for (const char* text : {"0", "-0", "7", "0.5", "-12.25", "1e3", "1E+3", "0.013636363636363636", "1.5e-300",
                           "123456789012345678901234567890"}) {
    CHECK(is_json_number(text));
    CHECK(taken(pass, text) == "0/0");
    CHECK(taken(pass, std::string(text) + ", 1") == "0/3");
  }
  for (const char* text : {"", "-", "+1", ".5", "1.", "1.e3", "1e", "1e+", "01", "-01", "00", "x", "null", "\"1\""}) {
    CHECK(!is_json_number(text));
    CHECK(taken(pass, text) == "no");
  }
}

TEST_CASE("in a damaged text the byte of a hole is no number") {
  const auto text = [](const std::string& number) { return "{\"ts\": " + number + "}" + std::string(16, '\0'); };
  const std::string time = text("\1"), integer = text("\2"), number = text("12");
  const auto found = [](const FormTree& tree, const std::string& in) {
    std::int64_t numbers[FormTree::kMostNumbers];
    return tree.match(in.data(), in.data() + in.size() - 16, numbers).size;
  };
  FormTree tree;
  tree.add(time.substr(0, time.size() - 16), 0);
  CHECK(found(tree, number) == number.size() - 16);
  CHECK(found(tree, time) == 0);
  tree.add(integer.substr(0, integer.size() - 16), 1);
  CHECK(found(tree, time) == 0);
  CHECK(found(tree, integer) == 0);
}

TEST_CASE("an event of a known form says what the parser would say") {
  const std::string at = R"("pid": 1, "tid": 2, )";
  check_all_the_same({
      event(at + R"("ts": 1.5, "dur": 2)"),
      event(at + R"("ts": 3, "dur": 2.125)"),
      event(at + R"("ts": 3, "dur": 0)"),
      event(at + R"("ts": 3)"),
      event(at + R"("ts": 3, "dur": -1)"),
      event(at + R"("ts": "3", "dur": 1)"),
      event(at + R"("ts": 1e1, "dur": 1.0005)"),
      event(at + R"("ts": 4, "dur": 1, "args": {"device": 0, "stream": 7, "correlation": 12, "bytes": 4096})"),
      event(at + R"("ts": 5, "dur": 1, "args": {"device": 1, "stream": 7, "correlation": 13, "bytes": 5})"),
      event(at + R"("ts": 6, "dur": 1, "args": {"device": 1, "stream": 7, "correlation": -13, "bytes": -5})"),
      event(
          at +
          R"("ts": 6, "dur": 1, "args": {"device": 1, "stream": 7, "correlation": 18446744073709551615, "bytes": 1.0})"),
      event(R"("args": {"device": 2, "correlation": 1}, "ts": 6, "id": 5, "dur": 1, "pid": 1, "tid": 2)"),
      event(R"("args": {"device": 2, "correlation": 2}, "ts": 7, "id": 6, "dur": 1, "pid": 1, "tid": 2)"),
      event(R"("ts": 1, "ts": 7, "dur": 9, "dur": 1, "pid": 1, "tid": 2)"),
      event(R"("args": {"correlation": 5}, "ts": 7, "dur": 1, "pid": 1, "tid": 2, "args": {"bytes": 7})"),
      event(R"("ts": 7, "dur": 1, "pid": "1", "tid": "stream 7", "args": {"x": 0.5})"),
      event(R"("ts": 7, "dur": 1, "pid": "1", "tid": "stream 7", "args": {"x": 0})"),
      event(R"("ts": 7, "dur": 1, "pid": "1", "tid": 7, "args": {"x": 0, "y": [1, 2], "x": 3})"),
      event(R"("ts": 7, "dur": 1, "pid": 1, "tid": "a \"b\"", "args": {"x": "~"})"),
      event(R"("ts": 7, "dur": 1, "args": [1])"),
      event(R"("ts": 7, "dur": 1, "args": null)"),
      event(R"("ts": 9223372036854775, "dur": 1)"),
      R"({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy", "pid": 0, "tid": 7, "ts": 9, "dur": 1, "args": {"bytes": 8, "device": 0}})",
      R"({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy", "pid": 0, "tid": 7, "ts": 9, "dur": 1, "args": {"bytes": -8, "device": 0}})",
      R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunch", "pid": 9, "tid": 9, "ts": 9, "dur": 1, "args": {"cbid": 211, "correlation": 9}})",
      R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunch", "pid": "9", "tid": 9, "ts": 9, "dur": 1, "args": {"cbid": 211, "correlation": 9}})",
      R"({"ph": "s", "id": 4, "pid": 9, "tid": 9, "ts": 1, "cat": "ac2g", "name": "ac2g"})",
      R"({"ph": "f", "id": -4, "pid": 0, "tid": 7, "ts": 2, "cat": "ac2g", "name": "ac2g", "bp": "e"})",
      R"({"ph": "f", "id": "0x4", "pid": 0, "tid": 7, "ts": 2, "cat": "ac2g", "name": "ac2g", "bp": "e"})",
      R"({"ph": "B", "cat": "cpu_op", "name": "b", "pid": 9, "tid": 9, "ts": 5, "args": {"x": 1}})",
      R"({"ph": "E", "cat": "cpu_op", "name": "b", "pid": 9, "tid": 9, "ts": 8, "args": {"y": 2}})",
      R"({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 9, "tid": 9, "ts": 5, "dur": "x", "args": {"Device Type": 1, "Device Id": 0, "Total Allocated": 7}})",
      R"({"ph": "C", "name": "c", "pid": 9, "ts": 5, "args": {"a": 1, "b": 2.5}})",
      R"({ "ph" : "X" , "cat" : "cpu_op","name":"aten::mm","pid":9,"tid":9,"ts":5,"dur":1,"args":{ "External id": 1,"Ev Idx": 2 } })",
      R"({ "ph" : "X" , "cat" : "cpu_op","name":"aten::mm","pid":9,"tid":9,"ts":5,"dur":1,"args":{ "External id": 10,"Ev Idx": 20 } })",
      R"({ "ph" : "X" , "cat" : "cpu_op","name":"aten::mm2","pid":9,"tid":9,"ts":5,"dur":1,"args":{ "External id": 10,"Ev Idx": 20 } })",
  });
}

TEST_CASE("more integers than a shape has are compared as text") {
  std::string args, other;
  for (int i = 0; i < 70; ++i) {
    args += (i == 0 ? "" : ", ") + ("\"" + std::to_string(i)) + "\": " + std::to_string(i);
    other += (i == 0 ? "" : ", ") + ("\"" + std::to_string(i)) + "\": " + std::to_string(i + (i < 60));
  }
  const auto with = [](const std::string& text) {
    return event(R"("ts": 1, "dur": 1, "pid": 1, "tid": 1, "args": {)" + text + "}");
  };
  check_all_the_same({with(args), with(other), with(args + R"(, "last": 7)")});
}

TEST_CASE("what is like a known event up to damage is not taken for it") {
  const std::string good = event(R"("ts": 1.5, "dur": 2, "pid": 1, "tid": 2, "args": {"correlation": 5})");
  for (const char* broken : {R"("ts": 1.5, "dur": 2, "pid": 1, "tid": 2, "args": {"correlation": 05})",
                             R"("ts": 1.5, "dur": 2, "pid": 1, "tid": 2, "args": {"correlation": 5x})",
                             R"("ts": 1.5, "dur": 2, "pid": 1, "tid": 2, "args": {"correlation": })",
                             R"("ts": 1.5.5, "dur": 2, "pid": 1, "tid": 2, "args": {"correlation": 5})",
                             R"("ts": 01.5, "dur": 2, "pid": 1, "tid": 2, "args": {"correlation": 5})"}) {
    const auto trace =
        read_kineto("{\"traceEvents\": [\n" + good + ",\n" + good + ",\n" + event(broken) + ",\n" + good + "\n]}");
    CHECK(trace->events.size() == 3);
    CHECK(trace->process().lost_unknown_kind == 1);
  }
}

TEST_CASE("of texts that never repeat, a bounded number is remembered") {
  std::string events;
  for (int i = 0; i < 40'000; ++i) {
    events += (i == 0 ? "" : ",\n") + (R"({"ph": "X", "cat": "cpu_op", "name": "n)" + std::to_string(i)) +
              R"(", "pid": 1, "tid": 1, "ts": )" + std::to_string(i) + R"(, "dur": 1})";
  }
  const auto trace = read_events(events);
  REQUIRE(trace->events.size() == 40'000);
  CHECK(trace->name(39'999) == "n39999");
  CHECK(trace->events[39'999].event.start_ns == 39'999'000);
}
