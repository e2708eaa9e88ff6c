// The members of JSON objects, and tables that stay bounded.
#include "cli/formats/perfetto/arguments.h"
#include "cli/formats/perfetto/sequence.h"
#include "cli/formats/perfetto/vocabulary.h"
#include "tests/unit/catch.h"

using namespace cli::perfetto;

namespace {

std::string split(std::string_view text) {
  std::string out;
  JsonMembers members(text);
  for (Member m; members.next(m);) out += std::string(m.key) + '=' + std::string(m.value) + ';';
  return out;
}

}  // namespace

TEST_CASE("members of a JSON object, one after the other") {
  CHECK(split("") == "");
  CHECK(split(R"("a": 1,"b":-2.5e3 , "c" : true)") == "a=1;b=-2.5e3;c=true;");
  CHECK(split(R"("s": "x, \"y\": [", "t": "\\")") == R"(s="x, \"y\": [";t="\\";)");
  CHECK(split("\"a\": [[1, 2],\n {\"]\": \"}\"}], \"b\": {}") == "a=[[1, 2],\n {\"]\": \"}\"}];b={};");
}

TEST_CASE("the next member is the expected one only as a whole") {
  std::uint64_t number = 0;
  JsonMembers members(R"("a": 12, "b": "x","c": [1], "d": 7)");
  CHECK_FALSE(members.next_is("\"a\": 1"));
  CHECK_FALSE(members.next_is("\"b\": \"x\""));
  CHECK_FALSE(members.next_is("\"b\": ", number));
  CHECK(members.next_is("\"a\": ", number));
  CHECK(number == 12);
  CHECK_FALSE(members.next_is("\"b\": ", number));
  CHECK(members.next_is("\"b\": \"x\""));
  CHECK_FALSE(members.next_is("\"c\": [1"));
  CHECK(members.next_is("\"c\": [1]"));
  CHECK(members.next_is("\"d\": ", number));
  CHECK(number == 7);
  CHECK_FALSE(members.next_is("\"d\": ", number));
  CHECK_FALSE(JsonMembers("\"a\": 1.5").next_is("\"a\": ", number));
  CHECK_FALSE(JsonMembers("\"a\": 1e3").next_is("\"a\": ", number));
  CHECK_FALSE(JsonMembers("\"a\": -1").next_is("\"a\": ", number));
  CHECK_FALSE(JsonMembers("\"a\": 18446744073709551616").next_is("\"a\": ", number));
  CHECK_FALSE(JsonMembers("\"a\": ").next_is("\"a\": ", number));
}

TEST_CASE("what is no JSON ends the members, without reading beyond") {
  for (const char* const text : {"\"", "\"a", "\"a\"", "\"a\":", "\"a\": \"b", "\"a\": [1", "\"a\": \"b\\", "x", ","}) {
    INFO(text);
    CHECK(split(text).size() <= 12);
  }
}

TEST_CASE("texts have numbers until there is no more room, and keep them") {
  TextIds ids(1000, 5000);
  for (int i = 0; i < 1000; ++i) CHECK(ids.id("text " + std::to_string(i % 400)) == static_cast<unsigned>(i % 400 + 1));
  CHECK(ids.text(7) == "text 6");
  CHECK(ids.id(std::string(4000, 'x')) == 0);
  CHECK(ids.id("text 399") == 400);
  TextIds few(2, 5000);
  CHECK(few.id("a") == 1);
  CHECK(few.id("b") == 2);
  CHECK(few.id("c") == 0);
  CHECK(few.id("a") == 1);
}

TEST_CASE("a set of numbers takes each once") {
  IdSet set;
  for (const std::uint32_t id : {0u, 1u, 63u, 64u, 2047u, 2048u, 1'000'000u}) {
    CHECK(set.insert(id));
    CHECK_FALSE(set.insert(id));
  }
}
