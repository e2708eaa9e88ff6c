#include "cli/base/json_text.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/export/small_trace.h"

namespace {

std::string in_json(std::string_view text) {
  cli::StringSink sink;
  cli::JsonText out(sink);
  cli::json_string(out, text);
  out.flush();
  return sink.text;
}

std::string micros(std::uint64_t ns) {
  cli::StringSink sink;
  cli::JsonText out(sink);
  out.micros(ns);
  out.flush();
  return sink.text;
}

}  // namespace

TEST_CASE("json_string: what must be escaped is, all else is kept") {
  CHECK(in_json("") == R"("")");
  CHECK(in_json("void f<int>(float*, char const&)") == "\"void f<int>(float*, char const&)\"");
  CHECK(in_json("a\"b\\c/d") == R"("a\"b\\c/d")");
  CHECK(in_json("tab\tline\nreturn\r") == R"("tab\tline\nreturn\r")");
  CHECK(in_json(std::string_view("nul\0bell\a\x1f", 10)) == R"("nul\u0000bell\u0007\u001f")");
  CHECK(in_json("\x7f") == R"("\u007f")");
  CHECK(in_json("\xC2\x9B"
                "31m\xE2\x80\xAE\xE2\x81\xA9\xD8\x9C") == R"("\u009b31m\u202e\u2069\u061c")");
}

TEST_CASE("json_string: valid UTF-8 is kept") {
  for (const char* text : {"\xC2\xA0", "Z\xC3\xBCrich", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF",
                           "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "\xF0\x9F\x9A\x80 launch"}) {
    CHECK(in_json(text) == '"' + std::string(text) + '"');
  }
}

TEST_CASE("json_string: each byte outside valid UTF-8 becomes U+FFFD") {
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(in_json("\x80") == '"' + bad + '"');
  CHECK(in_json("a\xFFz") == "\"a" + bad + "z\"");
  CHECK(in_json("\xC0\x80") == '"' + bad + bad + '"');            // overlong NUL
  CHECK(in_json("\xE0\x9F\xBF") == '"' + bad + bad + bad + '"');  // overlong
  CHECK(in_json("\xED\xA0\x80") == '"' + bad + bad + bad + '"');  // a surrogate
  CHECK(in_json("\xF0\x8F\xBF\xBF") == '"' + bad + bad + bad + bad + '"');
  CHECK(in_json("\xF4\x90\x80\x80") == '"' + bad + bad + bad + bad + '"');  // above U+10FFFF
  CHECK(in_json("\xF5") == '"' + bad + '"');
  CHECK(in_json("cut \xE2\x82") == "\"cut " + bad + bad + '"');
  CHECK(in_json("\xC3\"") == '"' + bad + "\\\"\"");  // the quote is not swallowed
}

TEST_CASE("json_plain says when a string needs no escaping") {
  CHECK(cli::json_plain("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"));
  CHECK_FALSE(cli::json_plain("a\"b"));
  CHECK_FALSE(cli::json_plain("a\\b"));
  CHECK_FALSE(cli::json_plain("a\nb"));
  CHECK_FALSE(cli::json_plain("\xC3\xBC"));
}

TEST_CASE("micros has exactly three decimals") {
  CHECK(micros(0) == "0.000");
  CHECK(micros(7) == "0.007");
  CHECK(micros(1234567) == "1234.567");
  CHECK(micros(18446744073709551615u) == "18446744073709551.615");
}

TEST_CASE("a string larger than the buffer goes through whole") {
  const std::string big(5 * cli::JsonText::kPiece, 'x');
  CHECK(in_json(big) == '"' + big + '"');
}

TEST_CASE("move_tail puts what was written last in front of what stood there") {
  cli::StringSink sink;
  cli::JsonText out(sink);
  out.raw("slice;");
  const std::size_t behind_slice = out.position();
  out.raw("instant;");
  const std::size_t since = out.position();
  out.raw("flow;");
  out.move_tail(since, behind_slice);
  out.flush();
  CHECK(sink.text == "slice;flow;instant;");
}

TEST_CASE("put_digits: the edges of every length, as the library has them") {
  std::vector<std::uint64_t> values{0, ~std::uint64_t{0}};
  for (std::uint64_t power = 1, i = 0; i < 19; ++i, power *= 10)
    values.insert(values.end(), {power - 1, power, power + 1, power * 9});
  for (unsigned bit = 0; bit < 64; ++bit)
    values.insert(values.end(), {(std::uint64_t{1} << bit) - 1, std::uint64_t{1} << bit});
  for (const std::uint64_t value : values) {
    char digits[20];
    CHECK(std::string(digits, cli::put_digits(digits, value)) == std::to_string(value));
  }
}
