// The slow, exact judge of JSON text (RFC 8259): called only when something is wrong, to say where and what was
// expected, and by tests as the measure for the fast way.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace cli {

inline constexpr int kMaxJsonDepth = 256;  // brackets within brackets in one event

struct JsonFault {
  std::size_t at;        // index in the text; its size when the text ends too early
  const char* expected;  // "a value"
};

// nullopt: `text` is exactly one JSON value, with white space around it, in valid UTF-8.
std::optional<JsonFault> find_json_fault(std::string_view text);

// -?int frac? exp?, nothing else.
bool is_json_number(std::string_view text);

// `text` is what lies between the quotes of a string without control characters: are its escapes valid?
bool has_valid_escapes(std::string_view text);

}  // namespace cli
