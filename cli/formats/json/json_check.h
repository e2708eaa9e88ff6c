// A slow, exact check of JSON text (RFC 8259). It is used only after an error, to find the position and what was
// expected, and by tests as the reference for the fast parser.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace cli {

inline constexpr int kMaxJsonDepth = 256;  // nested brackets in one event

struct JsonFault {
  std::size_t at;        // index in the text; the text's size if it ends too early
  const char* expected;  // "a value"
};

// Returns nullopt if `text` is exactly one JSON value, with optional white space around it, in valid UTF-8.
std::optional<JsonFault> find_json_fault(std::string_view text);

// Returns true if `text` is exactly -?int frac? exp?.
bool is_json_number(std::string_view text);

// Returns true if all escapes are valid. `text` is the content between the quotes of a string without control
// characters.
bool has_valid_escapes(std::string_view text);

}  // namespace cli
