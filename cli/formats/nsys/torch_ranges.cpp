#include "cli/formats/nsys/torch_ranges.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace cli::nsys {
namespace {

// Removes ", KEY = NUMBER" from the start of `text`. Returns nullopt if it does not begin so.
std::optional<std::uint64_t> take_number(std::string_view& text, std::string_view key) {
  if (!text.starts_with(key)) return {};
  const char* const begin = text.data() + key.size();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool is_word(char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Returns true for names of registered operators, such as "aten::mm" and "c10d::allreduce_".
bool is_operator_name(std::string_view name) {
  const std::size_t colons = name.find("::");
  if (colons == 0 || colons == name.npos) return false;
  const std::string_view room = name.substr(0, colons), rest = name.substr(colons + 2);
  return !rest.empty() && std::ranges::all_of(room, is_word) &&
         std::ranges::all_of(rest, [](char c) { return is_word(c) || c == '.'; });
}

}  // namespace

bool TorchRange::is_operator() const { return sequence_number || is_operator_name(name); }

std::optional<TorchRange> parse_torch_range(std::string_view text) {
  constexpr std::string_view kSequence = ", seq = ", kOperator = ", op_id = ";
  const std::size_t end = std::min(text.find(kSequence), text.find(kOperator));
  if (end == text.npos || end == 0) return {};
  TorchRange range;
  range.name = text.substr(0, end);
  text.remove_prefix(end);
  range.sequence_number = take_number(text, kSequence);
  range.op_id = take_number(text, kOperator);
  if (text.starts_with(", sizes = [") || text.starts_with(", input_op_ids = ["))
    range.rest = text.substr(2);
  else if (!text.empty())
    return {};
  return range;
}

}  // namespace cli::nsys
