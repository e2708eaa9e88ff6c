// A word as a POSIX shell takes it.
#pragma once
#include <string>
#include <string_view>

namespace cli {

// As it is, or in single quotes where it holds what a shell reads otherwise.
inline std::string shell_word(std::string_view word) {
  const bool plain = word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,+:@%") == std::string_view::npos;
  if (plain && !word.empty()) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace cli
