// Classifies 64 bytes of JSON as bit masks for a structural scanner; bit i stands for byte i.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace cli {

struct JsonBlock {
  std::uint64_t quote = 0;      // "
  std::uint64_t backslash = 0;  // begins an escape
  std::uint64_t open = 0;       // { [
  std::uint64_t close = 0;      // } ]
};

// For any processor, 8 bytes at a time. Tests compare the vector version with it.
inline JsonBlock classify_by_words(const char* bytes) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t ones = 0x0101010101010101u, low7 = 0x7f * ones, high = 0x80 * ones;
  const auto equal = [](std::uint64_t word, std::uint64_t byte) {
    const std::uint64_t x = word ^ (ones * byte);
    const std::uint64_t zero_bytes = ~(((x & low7) + low7) | x) & high;  // 0x80 in each byte of x that is 0
    return (zero_bytes >> 7) * 0x0102040810204080u >> 56;                // packs these eight bits
  };
  JsonBlock block;
  for (unsigned at = 0; at < 64; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + at, 8);
    const std::uint64_t folded = word | (0x20 * ones);  // [ and ] become { and }
    block.quote |= equal(word, '"') << at;
    block.backslash |= equal(word, '\\') << at;
    block.open |= equal(folded, '{') << at;
    block.close |= equal(folded, '}') << at;
  }
  return block;
}

#if defined(__SSE2__)
inline JsonBlock classify(const char* bytes) {
  JsonBlock block;
  for (unsigned at = 0; at < 64; at += 16) {
    const __m128i piece = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + at));
    const __m128i folded = _mm_or_si128(piece, _mm_set1_epi8(0x20));
    const auto equal = [](const __m128i& v, char byte) {
      return static_cast<std::uint64_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(byte))));
    };
    block.quote |= equal(piece, '"') << at;
    block.backslash |= equal(piece, '\\') << at;
    block.open |= equal(folded, '{') << at;
    block.close |= equal(folded, '}') << at;
  }
  return block;
}
#else
inline JsonBlock classify(const char* bytes) { return classify_by_words(bytes); }
#endif

}  // namespace cli
