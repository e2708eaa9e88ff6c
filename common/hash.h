// Hashes for tables that compare the key of every hit. Nothing that is written depends on them, except for fnv1a.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace trace {

// Returns a multiple whose high bits depend on all bits of `number` (Fibonacci hashing: 2^64 divided by the golden ratio).
constexpr std::uint64_t spread(std::uint64_t number) noexcept { return number * 0x9e3779b97f4a7c15u; }

// Eight bytes at a time, multiplied and folded. Copies of a fixed size are one instruction each, so the last bytes are read together
// with some before them.
inline std::uint64_t hash_bytes(const void* bytes, std::size_t size, std::uint64_t seed = 0) noexcept {
  const auto* at = static_cast<const unsigned char*>(bytes);
  std::uint64_t hash = seed ^ spread(size), word = 0;
  // Both halves of the product: the last byte of a word alone does not reach the low bits of one half.
  const auto mix = [&hash](std::uint64_t more) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(hash ^ more) * spread(1);
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
inline std::uint64_t hash_bytes(std::string_view text) noexcept { return hash_bytes(text.data(), text.size()); }

// FNV-1a, 64 bits: the same for all versions.
constexpr std::uint64_t fnv1a(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace trace
