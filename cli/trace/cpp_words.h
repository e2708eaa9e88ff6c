// The words and operators of C++ names.
#pragma once
#include <cstddef>
#include <string_view>

namespace cli {

constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

constexpr bool starts_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || !is_word(text[word.size()]));
}

// The operator's name at the start of `text`: the longest first.
inline std::string_view operator_at(std::string_view text) {
  static constexpr std::string_view kNames =
      "<=> <<= >>= ->* () [] << >> <= >= == != && || ++ -- += -= *= /= %= ^= &= |= -> ";
  for (std::size_t at = 0; at < kNames.size(); at = kNames.find(' ', at) + 1) {
    const std::string_view name = kNames.substr(at, kNames.find(' ', at) - at);
    if (text.starts_with(name)) return name;
  }
  return text.substr(0, !text.empty() && std::string_view("<>+-*/%^&|~!=,").find(text[0]) != text.npos);
}

}  // namespace cli
