// Untrusted names control neither a terminal nor a shell.
#include <string>

#include "cli/base/text.h"
#include "tests/unit/catch.h"

using namespace cli;

TEST_CASE("io: control characters are shown as escapes", "[io]") {
  for (int byte = 0; byte < 0x20; ++byte) {
    const char c = static_cast<char>(byte);
    const std::string named = c == '\n'   ? "\\n"
                              : c == '\r' ? "\\r"
                              : c == '\t' ? "\\t"
                                          : fmt::format("\\x{:02x}", byte);
    CHECK(visible_text(std::string_view(&c, 1)) == named);
  }
  CHECK(visible_text("\x1b[31m\x7f") == "\\x1b[31m\\x7f");
  CHECK(visible_text("") == "");
}

TEST_CASE("io: characters that command a terminal or turn the direction of text are shown as code points", "[io]") {
  CHECK(visible_text("\xC2\x9B"
                     "31m") == "\\u009b31m");
  CHECK(visible_text("\xC2\x80\xC2\x9F") == "\\u0080\\u009f");
  CHECK(visible_text("a\xD8\x9C"
                     "b") == "a\\u061cb");
  CHECK(visible_text("\xE2\x80\x8E\xE2\x80\x8F") == "\\u200e\\u200f");
  CHECK(visible_text("\xE2\x80\xA8\xE2\x80\xAE") == "\\u2028\\u202e");
  CHECK(visible_text("\xE2\x81\xA6\xE2\x81\xA9") == "\\u2066\\u2069");
}

TEST_CASE("io: other characters stay as they are, bytes of none are shown", "[io]") {
  for (const std::string_view text : {"\xC2\xA0", "\xD8\x9B", "\xE2\x80\x8D", "\xE2\x80\xA6", "\xE2\x81\xA5",
                                      "\xE2\x81\xAA", "a\\n \"'", "K\xC3\xA4se \xE6\xBC\xA2 \xF0\x9F\x98\x80"})
    CHECK(visible_text(text) == text);
  CHECK(visible_text("\xff"
                     "a\x9b") == "\\xffa\\x9b");
  CHECK(visible_text("\xE2\x80") == "\\xe2\\x80");
  CHECK(visible_text("\xED\xA0\x80") == "\\xed\\xa0\\x80");  // a surrogate
}

TEST_CASE("io: a line is one line", "[io]") {
  std::string out = "a\n";
  add_line(out, "{}: {}", "b\nc", 7);
  add_line(out, "{}");
  CHECK(out == "a\nb\\nc: 7\n{}\n");
}

TEST_CASE("io: a word for a shell", "[io]") {
  CHECK(shell_word("traces/run_1.ring") == "traces/run_1.ring");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("sp dir;touch $(x)`y`") == "'sp dir;touch $(x)`y`'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("K\xC3\xA4se") == "'K\xC3\xA4se'");
  CHECK(shell_word("a\n'\\\x1b"
                   "1\xff\xE2\x80\xAE") == "$'a\\012\\047\\134\\0331\\377\\342\\200\\256'");
}
