#include "cli/base/terminal.h"
#include "tests/unit/catch.h"

using cli::columns_of;
using cli::fitted;

TEST_CASE("columns of text: wide characters take two, marks none") {
  CHECK(columns_of("") == 0);
  CHECK(columns_of("abc") == 3);
  CHECK(columns_of("\u00e9") == 1);
  CHECK(columns_of("e\u0301") == 1);
  CHECK(columns_of("\u6771\u4eac") == 4);
}

TEST_CASE("text that is too long loses its middle, and no half of a character stays") {
  CHECK(fitted("abcdefghij", 10) == "abcdefghij");
  CHECK(fitted("abcdefghij", 9) == "abc...hij");
  CHECK(fitted("abcdefghij", 8) == "abc...ij");
  CHECK(fitted("abcdefghij", 5) == "a...j");
  CHECK(fitted("\u6771\u4eac\u6771\u4eac\u6771\u4eac", 8) == "\u6771...\u4eac");
}
