// JSON objects and arrays written key by key; commas are its own business. For small outputs that programs read.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "cli/base/json_text.h"

namespace cli {

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
