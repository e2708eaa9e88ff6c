// Members of args that our own readers of recordings wrote (cli/read/ring_*).
#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace cli {

// The value of a member: 5 of `"count": 5`, text without its quotes; "" when it is not there. Not for values that hold
// commas.
std::string_view argument(std::string_view args, std::string_view key);

template <typename Integer>
std::optional<Integer> integer(std::string_view text, int base = 10) {
  Integer value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// Of "0x7f00".
inline std::optional<std::uint64_t> hex_number(std::string_view text) {
  return text.starts_with("0x") ? integer<std::uint64_t>(text.substr(2), 16) : std::nullopt;
}

}  // namespace cli
