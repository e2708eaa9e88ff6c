#include "agent/base/hash.h"

#include <cstring>

namespace agent {

// Multiplies and folds eight bytes at a time, which is good enough for a table that verifies every hit. Copies of a
// fixed size are one instruction each, so the last bytes are read together with some before them.
std::uint64_t hash_bytes(const void* bytes, std::size_t size, std::uint64_t seed) noexcept {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
  const auto* at = static_cast<const unsigned char*>(bytes);
  std::uint64_t hash = seed ^ size * kOdd, word = 0;
  // Uses both halves of the product, because a difference in the last byte of a word would not affect the low bits of
  // one half.
  const auto mix = [&hash](std::uint64_t more) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(hash ^ more) * kOdd;
    hash = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  for (std::size_t left = size; left >= 8; left -= 8, at += 8) {
    std::memcpy(&word, at, 8);
    mix(word);
  }
  const std::size_t left = size % 8;
  if (left == 0) return hash;
  if (size > 8) {
    std::memcpy(&word, at + left - 8, 8);
  } else {
    word = 0;
    std::memcpy(&word, at, left);
  }
  mix(word);
  return hash;
}

}  // namespace agent
