#include "cli/read/rank_name.h"

#include <charconv>
#include <cstddef>
#include <string>

namespace cli {
namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

std::string last_part_in_lower_case(std::string_view path) {
  std::string name(path.substr(path.find_last_of('/') + 1));
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

std::optional<std::int64_t> number_after(std::string_view name, std::string_view word) {
  for (std::size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
    if (at > 0 && is_letter(name[at - 1])) continue;
    std::string_view rest = name.substr(at + word.size());
    if (rest.starts_with('-') || rest.starts_with('_')) rest.remove_prefix(1);
    std::uint32_t rank = 0;
    if (std::from_chars(rest.data(), rest.data() + rest.size(), rank).ec == std::errc()) return rank;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> rank_in_file_name(std::string_view path) {
  const std::string name = last_part_in_lower_case(path);
  const auto rank = number_after(name, "rank");
  return rank ? rank : number_after(name, "worker");
}

}  // namespace cli
