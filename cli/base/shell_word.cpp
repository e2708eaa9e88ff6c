#include "cli/base/shell_word.h"

#include <fmt/format.h>

#include "cli/base/visible_text.h"

namespace cli {

std::string shell_word(std::string_view word) {
  const bool plain = word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,+:@%") == std::string_view::npos;
  if (plain && !word.empty()) return std::string(word);
  const bool is_visible = visible_text(word) == word;
  std::string out = is_visible ? "'" : "$'";
  for (const char c : word) {
    if (is_visible) {
      out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    } else {
      const bool is_itself = c >= ' ' && c <= '~' && c != '\'' && c != '\\';
      out += is_itself ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
  }
  return out + "'";
}

}  // namespace cli
