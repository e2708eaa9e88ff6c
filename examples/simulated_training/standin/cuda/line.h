// A line of JSON, put together without the heap. A name that does not fit is cut.
#pragma once
#include <charconv>
#include <concepts>
#include <cstddef>
#include <string_view>

namespace sim {

class Line {
 public:
  explicit Line(std::string_view kind) {
    raw("{\"kind\":\"");
    raw(kind);
    raw("\"");
  }
  template <std::integral Number>
  Line& number(std::string_view key, Number value) {
    open(key);
    digits(value);
    return *this;
  }
  Line& text(std::string_view key, std::string_view value) {
    open(key);
    raw("\"");
    for (const char c : value) escaped(c);
    raw("\"");
    return *this;
  }
  template <typename Number>
  Line& triple(std::string_view key, const Number (&value)[3]) {
    open(key);
    for (int i = 0; i < 3; ++i) {
      raw(i == 0 ? "[" : ",");
      digits(value[i]);
    }
    raw("]");
    return *this;
  }
  // `json` is put in as it stands.
  Line& json(std::string_view key, std::string_view json) {
    open(key);
    raw(json);
    return *this;
  }
  std::string_view close() {
    text_[used_] = '}';
    return {text_, used_ + 1};
  }

 private:
  static constexpr std::size_t kSize = 4096;

  void open(std::string_view key) {
    raw(",\"");
    raw(key);
    raw("\":");
  }
  void raw(std::string_view part) {
    const std::size_t size = part.size() < kSize - 64 - used_ ? part.size() : 0;
    part.copy(text_ + used_, size);
    used_ += size;
  }
  void digits(std::integral auto value) {
    if (used_ < kSize - 64)
      used_ = static_cast<std::size_t>(std::to_chars(text_ + used_, text_ + kSize, value).ptr - text_);
  }
  void escaped(char c) {
    static constexpr char kHex[] = "0123456789abcdef";
    if (used_ > kSize - 512) return;  // room for the fields behind it
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') text_[used_++] = '\\';
    if (byte >= 0x20) {
      text_[used_++] = c;
      return;
    }
    raw("\\u00");
    text_[used_++] = kHex[byte >> 4];
    text_[used_++] = kHex[byte & 15];
  }

  char text_[kSize];
  std::size_t used_ = 0;
};

}  // namespace sim
