#include <cstdint>
#include <limits>
#include <string>

#include "cli/formats/json/json_values.h"
#include "tests/unit/catch.h"

using cli::micros_to_ns;
using cli::to_int64;
using cli::to_uint64;

TEST_CASE("microseconds become exact nanoseconds") {
  struct Row {
    const char* text;
    std::int64_t ns;
  };
  const Row rows[] = {
      {"0", 0},
      {"-0", 0},
      {"0.000", 0},
      {"7", 7000},
      {"-7", -7000},
      {"0.001", 1},
      {"0.1", 100},
      {"1.5", 1500},
      {"-1.25", -1250},
      {"6322354380324.768", 6322354380324768},
      {"1712867402348256", 1712867402348256000},
      {"1712867402348256.123", 1712867402348256123},  // a double would say .125
      {"9007199254740993.001", 9007199254740993001},  // 2^53 + 1
      {"9223372036854775.807", INT64_MAX},
      {"-9223372036854775.808", INT64_MIN},
      {"1e3", 1000000},
      {"1E+3", 1000000},
      {"1.5e3", 1500000},
      {"1500e-3", 1500},
      {"0.0000015e6", 1500},
      {"1e-3", 1},
      {"1e-400", 0},
      {"0e999999999999", 0},
      {"00012.5", 12500},
      {"0.00000000000000000000000000000000000000000000001", 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    REQUIRE(micros_to_ns(row.text).has_value());
    CHECK(*micros_to_ns(row.text) == row.ns);
  }
}

TEST_CASE("further decimals round half to even at one nanosecond") {
  CHECK(micros_to_ns("0.0005") == 0);
  CHECK(micros_to_ns("0.0015") == 2);
  CHECK(micros_to_ns("0.0025") == 2);
  CHECK(micros_to_ns("0.00250000001") == 3);
  CHECK(micros_to_ns("0.0024999") == 2);
  CHECK(micros_to_ns("-0.0015") == -2);
  CHECK(micros_to_ns("-0.0005") == 0);
  CHECK(micros_to_ns("5e-4") == 0);
  CHECK(micros_to_ns("5.0001e-4") == 1);
  CHECK(micros_to_ns("9.99e-5") == 0);
  CHECK(micros_to_ns("1712867402348256.1235") == 1712867402348256124);
  CHECK(micros_to_ns("9223372036854775.8074") == INT64_MAX);
}

TEST_CASE("what is not a decimal number or too big is nothing") {
  for (const char* text : {"",
                           "-",
                           ".",
                           "abc",
                           "1x",
                           "1.2.3",
                           "1e",
                           "1e+",
                           "--1",
                           "+1",
                           " 1",
                           "1 ",
                           "0x10",
                           "NaN",
                           "Infinity",
                           "null",
                           "1,5",
                           "9223372036854775.808",
                           "-9223372036854775.809",
                           "1e16",
                           "1e999",
                           "18446744073709551615.9995",
                           "9223372036854775.8075",
                           "99999999999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(micros_to_ns(text));
  }
}

TEST_CASE("every nanosecond of a microsecond survives, whatever the spelling") {
  for (std::int64_t ns = 0; ns < 1000; ++ns) {
    std::string digits = std::to_string(1000 + ns).substr(1);
    REQUIRE(micros_to_ns("1765622428292522." + digits) == 1765622428292522000 + ns);
    while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
    REQUIRE(micros_to_ns("1765622428292522." + digits) == 1765622428292522000 + ns);
    REQUIRE(micros_to_ns("1765622428292522" + std::to_string(1000 + ns).substr(1) + "e-3") == 1765622428292522000 + ns);
  }
}

TEST_CASE("integers, also as floating point spells them") {
  CHECK(to_int64("-1") == -1);
  CHECK(to_int64("3.0") == 3);
  CHECK(to_int64("1e3") == 1000);
  CHECK(to_int64("-9223372036854775808") == INT64_MIN);
  CHECK_FALSE(to_int64("3.5"));
  CHECK_FALSE(to_int64("1e-1"));
  CHECK_FALSE(to_int64("9223372036854775808"));
  CHECK(to_uint64("18446744073709551615") == UINT64_MAX);
  CHECK(to_uint64("9223372036854775808.0") == 9223372036854775808u);
  CHECK(to_uint64("-0") == 0u);
  CHECK_FALSE(to_uint64("18446744073709551616"));
  CHECK_FALSE(to_uint64("-1"));
  CHECK_FALSE(to_uint64("stream 7"));
}
