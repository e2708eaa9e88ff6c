#include <string>

#include "cli/formats/json/json_damage.h"
#include "tests/unit/catch.h"

using namespace cli;
namespace {

std::string mended(const std::string& event) {
  const auto found = mend_event(event);
  return found ? found->text : "";
}

}  // namespace

TEST_CASE("mending: numbers that JSON does not have become strings") {
  CHECK(mended(R"J({"ph":"X","args":{"a": inf,"b":-nan(ind), "c":1.#INF,"d":[NaN, 1]}})J") ==
        R"J({"ph":"X","args":{"a": "inf","b":"-nan(ind)", "c":"1.#INF","d":["NaN", 1]}})J");
  CHECK(mended(R"J({"ph":"b","args":{"datatype": ncclFloat32, "Stream": 0x262ca50, "a": true, "b": N/A}})J") ==
        R"J({"ph":"b","args":{"datatype": "ncclFloat32", "Stream": "0x262ca50", "a": true, "b": "N/A"}})J");
  CHECK(mended(R"J({"ph":"X","ts":})J").empty());
  CHECK(mended(R"J({"ph":"X","ts":soon})J").empty());
}

TEST_CASE("mending: backslashes of a string with an invalid escape stand for themselves") {
  CHECK(mended(R"J({"name":"C:\Users\new\u.py"})J") == R"J({"name":"C:\\Users\\new\\u.py"})J");
  CHECK(mended(R"J({"name":"C:\dir\","pid":1})J") == R"J({"name":"C:\\dir\\","pid":1})J");
  CHECK(mended(R"J({"name":"a\nb","cat":"\x"})J") == R"J({"name":"a\nb","cat":"\\x"})J");
}

TEST_CASE("mending: raw control characters and bytes that are not UTF-8") {
  CHECK(mended("{\"name\":\"a\x01\nb\"}") == R"J({"name":"a\u0001\u000ab"})J");
  CHECK(mended("{\"name\":\"caf\xe9 \xc3\xa9\"}") == "{\"name\":\"caf\xc3\xa9 \xc3\xa9\"}");
}

TEST_CASE("mending: a quote ends a string only before what follows one") {
  CHECK(mended(R"J({"name":"f("a")","pid":1})J") == R"J({"name":"f(\"a\")","pid":1})J");
  CHECK(mended(R"J({"name":"{"device": "cpu", "dtype": "x"}(1): f","pid":1})J") ==
        R"J({"name":"{\"device\": \"cpu\", \"dtype\": \"x\"}(1): f","pid":1})J");
  CHECK(mended(R"J({"name":"say \"x" y","ts":1})J") == R"J({"name":"say \"x\" y","ts":1})J");
  const auto found = mend_event(R"J({"name":"a"b","ts":1})J");
  REQUIRE(found);
  CHECK((found->at == 10 && found->fault == "a quote in a string is not escaped"));
}

TEST_CASE("mending: nothing else is guessed") {
  for (const char* event : {R"J({"ph":"X")J", R"J({"ph":"X" "ts":1})J", R"J({"ph":"X"}})J", "{\"a\x01\":1", "", "{}",
                            R"J({"name":"sound"})J"}) {
    CHECK_FALSE(mend_event(event));
  }
}
