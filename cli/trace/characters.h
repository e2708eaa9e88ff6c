// Characters by ASCII, whatever the locale is.
#pragma once

namespace cli {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_json_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace cli
