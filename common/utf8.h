// UTF-8, and characters that mislead readers.
#pragma once
#include <cstddef>
#include <cstdint>

namespace trace {

// Returns the length of the valid multi-byte character at `p`, which has `left` bytes, or 0 if there is none (Unicode
// 15, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
inline std::size_t utf8_length(const unsigned char* p, std::size_t left) {
  const auto continues = [](unsigned char byte) { return (byte & 0xC0) == 0x80; };
  const unsigned char lead = p[0];
  if (lead >= 0xC2 && lead <= 0xDF) return left >= 2 && continues(p[1]) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (left < 3 || !continues(p[1]) || !continues(p[2])) return 0;
    if (lead == 0xE0 && p[1] < 0xA0) return 0;
    return lead == 0xED && p[1] > 0x9F ? 0 : 3;
  }
  if (lead < 0xF0 || lead > 0xF4) return 0;
  if (left < 4 || !continues(p[1]) || !continues(p[2]) || !continues(p[3])) return 0;
  if (lead == 0xF0 && p[1] < 0x90) return 0;
  return lead == 0xF4 && p[1] > 0x8F ? 0 : 4;
}

// Writes the character, at most 4 bytes, and returns its length. Surrogates and numbers above U+10FFFF become the
// replacement character.
inline std::size_t put_utf8(std::uint32_t code, char* to) {
  if ((code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF) code = 0xFFFD;
  if (code < 0x80) {
    to[0] = static_cast<char>(code);
    return 1;
  }
  const std::size_t bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  constexpr unsigned char kLead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (std::size_t i = bytes - 1; i > 0; --i, code >>= 6) to[i] = static_cast<char>(0x80 | (code & 0x3F));
  to[0] = static_cast<char>(kLead[bytes] | code);
  return bytes;
}

// Returns the code point of the character of `length` bytes at `p` if text for people must not contain it, else 0.
// These are the control characters U+0080 to U+009F, the separators U+2028 and U+2029, and the characters that change
// text direction (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), which make a name look like another one.
inline std::uint32_t misleading_code_point(const unsigned char* p, std::size_t length) {
  if (length < 2 || length > 3) return 0;
  const std::uint32_t code = length == 2 ? (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu) : (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
  const auto is_in = [code](std::uint32_t first, std::uint32_t last) { return code >= first && code <= last; };
  return is_in(0x80, 0x9F) || code == 0x61C || is_in(0x200E, 0x200F) || is_in(0x2028, 0x202E) || is_in(0x2066, 0x2069) ? code : 0;
}

}  // namespace trace
