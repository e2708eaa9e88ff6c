// LEB128: seven bits a byte, lowest first, the high bit set on all but the last; zigzag puts the sign into bit 0.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace cli {

constexpr std::uint64_t zigzag(std::uint64_t value) { return value << 1 ^ (value >> 63 != 0 ? ~std::uint64_t{0} : 0); }
constexpr std::uint64_t unzigzag(std::uint64_t value) { return value >> 1 ^ (~(value & 1) + 1); }

inline constexpr std::size_t kMaxVarint = 10;

// Writes to `at`, where kMaxVarint bytes are free; returns the end.
inline char* put_varint(char* at, std::uint64_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<char>(value);
  return at;
}

inline void append_varint(std::string& out, std::uint64_t value) {
  char bytes[kMaxVarint];
  out.append(bytes, static_cast<std::size_t>(put_varint(bytes, value) - bytes));
}

inline std::uint64_t take_long_varint(std::string_view& in, bool& bad) {
  std::uint64_t value = 0;
  for (unsigned shift = 0, at = 0; at < in.size() && shift < 70; ++at, shift += 7) {
    const auto byte = static_cast<std::uint8_t>(in[at]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      in.remove_prefix(at + 1);
      return value;
    }
  }
  bad = true;
  in = {};
  return 0;
}

// Takes one number off the front of `in`. Past the end, or longer than 64 bits: sets `bad`, returns 0.
[[gnu::always_inline]] inline std::uint64_t take_varint(std::string_view& in, bool& bad) {
  const auto first = static_cast<std::uint8_t>(in.empty() ? 0x80 : in.front());
  if (first >= 0x80) return take_long_varint(in, bad);
  in.remove_prefix(1);
  return first;
}

}  // namespace cli
