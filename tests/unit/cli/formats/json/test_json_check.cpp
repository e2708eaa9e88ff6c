#include <cstring>
#include <string>

#include "cli/formats/json/json_check.h"
#include "cli/formats/json/json_values.h"
#include "tests/unit/catch.h"

using cli::find_json_fault;

TEST_CASE("well-formed JSON has no fault") {
  for (const char* text :
       {"{}", "[]", " [ ] ", "0", "-0", "1.5e-3", "\"\"", "true", "null", R"({"a":[1,{"b":[]}],"c":""})",
        R"("\"\\\/\b\f\n\r\t\u00e9\ud83d")", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"", "\t1\r\n"}) {
    CAPTURE(text);
    CHECK_FALSE(find_json_fault(text));
  }
}

TEST_CASE("a fault is found at its byte, with what was expected") {
  struct Row {
    std::string text;
    std::size_t at;
    const char* expected;
  };
  const Row rows[] = {
      {"", 0, "a value"},
      {"{", 1, "a member's name in quotes"},
      {"{\"a\"", 4, "':'"},
      {"{\"a\":", 5, "a value"},
      {"{\"a\":}", 5, "a value"},
      {"{\"a\":1", 6, "',' or '}'"},
      {"{\"a\":1,}", 7, "a member's name in quotes"},
      {"{\"a\" 1}", 5, "':'"},
      {"[1,]", 3, "a value"},
      {"[1 2]", 3, "',' or ']'"},
      {"[1]]", 3, "the end"},
      {"01", 1, "the end"},
      {"-", 1, "a digit"},
      {"1.", 2, "a digit"},
      {"1e+", 3, "a digit"},
      {"NaN", 0, "a value"},
      {"tru", 0, "a value"},
      {"truex", 4, "the end"},
      {"\"a", 2, "the closing quote"},
      {"\"a\nb\"", 2, "no raw control character"},
      {std::string("\"\0\"", 3), 1, "no raw control character"},
      {"\"\\x\"", 2, "an escape sequence"},
      {"\"\\u12g4\"", 5, "four hexadecimal digits"},
      {"\"\\", 2, "an escape sequence"},
      {"\"\xc3\"", 1, "UTF-8"},
      {"\"a\x80\"", 2, "UTF-8"},
      {"\"\xc0\x80\"", 1, "UTF-8"},      // overlong
      {"\"\xe0\x80\x80\"", 1, "UTF-8"},  // overlong
      {"\"\xed\xa0\x80\"", 1, "UTF-8"},  // a surrogate
      {"\"\xf4\x90\x80\x80\"", 1, "UTF-8"},
      {"\"\xf8\x88\x80\x80\"", 1, "UTF-8"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto fault = find_json_fault(row.text);
    REQUIRE(fault);
    CHECK(fault->at == row.at);
    CHECK(std::string(fault->expected).substr(0, std::strlen(row.expected)) == row.expected);
  }
}

TEST_CASE("brackets may nest to a limit") {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK_FALSE(find_json_fault(nested(cli::kMaxJsonDepth)));
  CHECK(find_json_fault(nested(cli::kMaxJsonDepth + 1)));
  CHECK(find_json_fault(std::string(1'000'000, '[')));
}

TEST_CASE("numbers and escapes are judged alone") {
  for (const char* good : {"0", "-12", "1.25", "1e9", "1E-09"}) CHECK(cli::is_json_number(good));
  for (const char* bad : {"", "-", "00", "1.", ".5", "+1", "1e", "1 ", "0x1"}) CHECK_FALSE(cli::is_json_number(bad));
  for (const char* good : {"", "abc", "\\n\\\\x", "a\\u00e9", "\\\\\\\""}) CHECK(cli::has_valid_escapes(good));
  for (const char* bad : {"\\", "a\\", "\\x", "\\u12", "\\u12 4", "\\\\\\q"}) CHECK_FALSE(cli::has_valid_escapes(bad));
}

TEST_CASE("escapes become UTF-8") {
  std::string scratch;
  const std::string plain = "no escape";
  CHECK(cli::unescape_json(plain, scratch).data() == plain.data());
  CHECK(cli::unescape_json(R"(a\"b\\c\/d)", scratch) == "a\"b\\c/d");
  CHECK(cli::unescape_json(R"(\b\f\n\r\t)", scratch) == "\b\f\n\r\t");
  CHECK(cli::unescape_json(R"(\u0041\u00e9\u20ac)", scratch) == "A\xc3\xa9\xe2\x82\xac");
  CHECK(cli::unescape_json(R"(\ud83d\ude00!)", scratch) == "\xf0\x9f\x98\x80!");
  CHECK(cli::unescape_json(R"(\ud83dx)", scratch) == "\xef\xbf\xbdx");
  CHECK(cli::unescape_json(R"(\ude00\ud83d\u0041)", scratch) ==
        "\xef\xbf\xbd\xef\xbf\xbd"
        "A");
}
