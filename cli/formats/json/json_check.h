// A slow, exact check of JSON text (RFC 8259). It is used only after an error, to find the position and what was
// expected, and by tests as the reference for the fast parser.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace cli {

// Finds the end of a JSON value without parsing it: brackets outside of strings are counted, 64 bytes at a time. The
// content is not checked; the parser does that. A backslash escapes a quote anywhere, which matters only in text that
// the parser refuses.

// `begin` is at a '{' or '['. Returns the byte after the closing bracket, or nullptr if it is not before `end`. The 64
// bytes from `end` on have to be readable.
const char* find_close(const char* begin, const char* end);

// `begin` is after the opening quote of a string. Returns its closing quote, or nullptr if it is not before `end`.
const char* find_quote(const char* begin, const char* end);

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
