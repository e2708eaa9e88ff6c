// Builds JSON in a large buffer, without streams or allocations per event. Writes it to the sink in pieces of about 1
// MiB.
#pragma once
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cli/base/output_file.h"

namespace cli {

// Writes up to 20 digits and returns their end.
char* put_digits(char* at, std::uint64_t value);

class JsonText {
 public:
  static constexpr std::size_t kPiece = 1 << 20;

  explicit JsonText(ByteSink& sink) : sink_(&sink), bytes_(2 * kPiece) {}

  // Always inlined, because most texts are literals, for which only a few moves remain. Without the attribute, inlining
  // depends on what else is compiled with the caller, and an export to JSON may take 7 % more instructions.
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
  // Writes nanoseconds as microseconds with exactly three decimals. A double represents each of them exactly up to 2^52
  // ns.
  void micros(std::uint64_t ns);

  // Writes integers without decimals, other numbers with six significant digits, and infinities and NaN, which JSON
  // lacks, as null.
  void real(double value);

  // Returns room for at least `size` bytes. Call advance() after writing.
  char* room(std::size_t size) {
    if (bytes_.size() - used_ < size) grow(size);
    return bytes_.data() + used_;
  }
  void advance(std::size_t size) { used_ += size; }

  // Moves the text written since `since` to `position`, before the text that is there. Positions are valid until the
  // next flush.
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

// Writes `text` as a quoted JSON string (RFC 8259). Escapes quotes, backslashes, control characters and
// misleading_code_point characters, replaces each byte of invalid UTF-8 with U+FFFD, and keeps all other characters.
void json_string(JsonText& out, std::string_view text);
std::string json_quoted(std::string_view text);

// Replaces each byte of invalid UTF-8 with U+FFFD. Returns `text` itself if it is valid, else a view of `scratch`.
std::string_view valid_utf8(std::string_view text, std::string& scratch);

// Returns true if json_string would write `text` unchanged between the quotes.
bool json_plain(std::string_view text);

// Writes JSON objects and arrays key by key and inserts the commas. For small outputs.

// Converts an amount for which negative means unknown; unknown is written as null.
inline std::optional<std::int64_t> known_number(std::int64_t value) {
  return value < 0 ? std::nullopt : std::optional<std::int64_t>(value);
}

class JsonWriter {
 public:
  explicit JsonWriter(JsonText& out) : out_(out) {}

  // Without a key, opens an element of an array or the top-level value.
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
  // Writes members: a key and its text or number, the next key, ...
  template <typename Value, typename... More>
  void members(std::string_view key, const Value& value, const More&... more) {
    if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
      text(key, value);
    } else {
      number(key, value);
    }
    if constexpr (sizeof...(more) > 0) members(more...);
  }
  // Writes an object with these members.
  template <typename... Members>
  void object(std::string_view key, const Members&... all) {
    open('{', key);
    members(all...);
    close('}');
  }
  // Writes an array. `write` writes one item.
  template <typename List, typename Write>
  void array(std::string_view key, const List& list, Write&& write) {
    open('[', key);
    for (const auto& item : list) write(item);
    close(']');
  }
  // Writes an array of texts or numbers.
  template <typename List>
  void array(std::string_view key, const List& list) {
    array(key, list, [this](const auto& item) { this->members({}, item); });
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

// Writes one JSON object and a line break. `write` writes its members.
template <typename Write>
void write_json(ByteSink& sink, Write&& write) {
  JsonText out(sink);
  JsonWriter json(out);
  json.open('{');
  write(json);
  json.close('}');
  out.raw("\n");
  out.flush();
}

}  // namespace cli
