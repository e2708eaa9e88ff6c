#include <random>
#include <string>

#include "cli/formats/json/json_blocks.h"
#include "cli/formats/json/json_check.h"
#include "tests/unit/catch.h"

namespace {

// One byte at a time: the measure.
long slow_close(const std::string& text, std::size_t size) {
  long depth = 0;
  bool inside = false, after_pair = false;
  for (std::size_t i = 0; i < size; ++i) {
    const bool escaped = i > 0 && text[i - 1] == '\\' && !after_pair;
    after_pair = escaped;
    const char c = text[i];
    if (c == '"' && !escaped) inside = !inside;
    if (inside || c == '"') continue;
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if ((c == '}' || c == ']') && depth == 0) return static_cast<long>(i + 1);
  }
  return -1;
}

long fast_close(const std::string& text, std::size_t size) {
  const char* close = cli::find_close(text.data(), text.data() + size);
  return close == nullptr ? -1 : close - text.data();
}

}  // namespace

TEST_CASE("both ways to classify 64 bytes agree") {
  std::mt19937 random(1);
  std::string bytes(64, '\0');
  for (int round = 0; round < 2000; ++round) {
    for (char& c : bytes) c = round % 2 == 0 ? static_cast<char>(random()) : "{}[]\"\\;:\x5b\xdb\x02"[random() % 11];
    const cli::JsonBlock a = cli::classify(bytes.data()), b = cli::classify_by_words(bytes.data());
    REQUIRE(a.quote == b.quote);
    REQUIRE(a.backslash == b.backslash);
    REQUIRE(a.open == b.open);
    REQUIRE(a.close == b.close);
    for (std::size_t i = 0; i < 64; ++i) {
      REQUIRE((a.quote >> i & 1) == (bytes[i] == '"'));
      REQUIRE((a.open >> i & 1) == (bytes[i] == '{' || bytes[i] == '['));
      REQUIRE((a.close >> i & 1) == (bytes[i] == '}' || bytes[i] == ']'));
    }
  }
}

TEST_CASE("the closing bracket is found as one byte at a time finds it") {
  std::mt19937 random(2);
  for (int round = 0; round < 20000; ++round) {
    std::string text = "{";
    const std::size_t size = 1 + random() % 300;
    while (text.size() < size) text += "{}[]\"\"\\\\ab,:  x"[random() % 15];
    const std::size_t used = text.size();
    text.append(64, round % 2 == 0 ? '\0' : '}');
    CAPTURE(text);
    REQUIRE(fast_close(text, used) == slow_close(text, used));
  }
}

TEST_CASE("escapes that cross a block do not hide a bracket") {
  for (std::size_t fill = 0; fill < 140; ++fill) {
    for (int slashes = 0; slashes < 6; ++slashes) {
      const std::string text = "{\"" + std::string(fill, 'a') + std::string(static_cast<std::size_t>(slashes), '\\') +
                               "\"}\" : [1] }" + std::string(64, '\0');
      REQUIRE(fast_close(text, text.size() - 64) == slow_close(text, text.size() - 64));
    }
  }
}

TEST_CASE("the closing quote is not an escaped one") {
  const auto at = [](const std::string& text) {
    const char* quote = cli::find_quote(text.data(), text.data() + text.size());
    return quote == nullptr ? -1 : quote - text.data();
  };
  CHECK(at("abc\"") == 3);
  CHECK(at("\"") == 0);
  CHECK(at("a\\\"b\"") == 4);
  CHECK(at("a\\\\\"b\"") == 3);
  CHECK(at("a\\\\\\\"\"") == 5);
  CHECK(at("abc") == -1);
  CHECK(at("abc\\\"") == -1);
}
