// JSON by appending to a big buffer: no streams, no per-event allocation. Goes to the sink in pieces of about a MiB.
#pragma once
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/base/output_file.h"

namespace cli {

// Writes up to 20 digits; returns their end.
char* put_digits(char* at, std::uint64_t value);

class JsonText {
 public:
  static constexpr std::size_t kPiece = 1 << 20;

  explicit JsonText(ByteSink& sink) : sink_(&sink), bytes_(2 * kPiece) {}

  // Always inlined: most texts are literals, of which a few moves are left then. Where the compiler would rather not, as it
  // depends on what else is compiled with the caller, an export to JSON takes 7 % more instructions.
  [[gnu::always_inline]] void raw(std::string_view text) {
    if (text.empty()) return;
    std::memcpy(room(text.size()), text.data(), text.size());
    used_ += text.size();
  }
  template <typename Integer>
  void number(Integer value) {
    char* at = room(24);
    used_ += static_cast<std::size_t>(std::to_chars(at, at + 24, value).ptr - at);
  }
  void number(std::uint64_t value) {
    char* at = room(24);
    used_ += static_cast<std::size_t>(put_digits(at, value) - at);
  }
  // Nanoseconds as microseconds with exactly three decimals: a double of up to 2^52 ns holds every one of them.
  void micros(std::uint64_t ns);

  // Whole numbers as such, others with six digits that count. Infinite ones and NaN, which JSON has not, as null.
  void real(double value);

  // At least `size` bytes to write to; then advance().
  char* room(std::size_t size) {
    if (bytes_.size() - used_ < size) grow(size);
    return bytes_.data() + used_;
  }
  void advance(std::size_t size) { used_ += size; }

  // What was written since `since` moves to `position`, before what stands there. Positions stay good until the next
  // flush.
  std::size_t position() const { return used_; }
  void move_tail(std::size_t since, std::size_t position);

  bool full() const { return used_ >= kPiece; }
  void flush();

 private:
  void grow(std::size_t size);

  ByteSink* sink_;
  std::vector<char> bytes_;
  std::size_t used_ = 0;
};

// Writes `text` as a JSON string with its quotes (RFC 8259). Escapes quotes, backslashes, control characters and misleading_code_point
// characters, replaces each byte of invalid UTF-8 with U+FFFD, and keeps all other characters.
void json_string(JsonText& out, std::string_view text);
std::string json_quoted(std::string_view text);

// Each byte that is not part of valid UTF-8 becomes U+FFFD. Returns `text` itself when all of it is valid, else a view of
// `scratch`.
std::string_view valid_utf8(std::string_view text, std::string& scratch);

// True when json_string would print `text` unchanged between quotes.
bool json_plain(std::string_view text);

// JSON objects and arrays written key by key; commas are its own business. For small outputs that programs read.

// For amounts that are negative where they are not known: written as null.
inline std::optional<std::int64_t> known_number(std::int64_t value) {
  return value < 0 ? std::nullopt : std::optional<std::int64_t>(value);
}

class JsonWriter {
 public:
  explicit JsonWriter(JsonText& out) : out_(out) {}

  // Without a key: an element of an array, or the whole.
  void open(char bracket, std::string_view key = {}) {
    begin(key);
    out_.raw({&bracket, 1});
    first_ = true;
  }
  void close(char bracket) {
    out_.raw({&bracket, 1});
    first_ = false;
  }
  void text(std::string_view key, std::string_view value) {
    begin(key);
    json_string(out_, value);
  }
  template <typename Number>
  void number(std::string_view key, Number value) {
    begin(key);
    out_.number(value);
  }
  template <typename Number>
  void number(std::string_view key, const std::optional<Number>& value) {
    if (value) return number(key, *value);
    begin(key);
    out_.raw("null");
  }

 private:
  void begin(std::string_view key) {
    if (!first_) out_.raw(",");
    first_ = false;
    if (key.empty()) return;
    json_string(out_, key);
    out_.raw(":");
  }

  JsonText& out_;
  bool first_ = true;
};

}  // namespace cli
