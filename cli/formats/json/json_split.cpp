#include "cli/formats/json/json_split.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "cli/formats/json/json_blocks.h"

namespace cli {
namespace {

// Returns the bits of characters escaped by a backslash. `carry` is true if the previous block ended in an escaping
// backslash.
std::uint64_t escaped_bits(std::uint64_t backslash, bool& carry) {
  std::uint64_t escaped = carry ? 1 : 0;
  backslash &= ~escaped;
  carry = false;
  while (backslash != 0) {
    const int at = std::countr_zero(backslash);
    carry = at == 63;
    if (carry) break;
    escaped |= std::uint64_t{2} << at;
    backslash &= ~(std::uint64_t{3} << at);
  }
  return escaped;
}

// Bit i is set if the number of quotes up to and including bit i is odd.
std::uint64_t prefix_xor(std::uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// std::popcount is a library call if the compiler may not assume the processor's instruction.
int count_of(std::uint64_t bits) {
  bits -= (bits >> 1) & 0x5555555555555555u;
  bits = (bits & 0x3333333333333333u) + ((bits >> 2) & 0x3333333333333333u);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<int>(bits * 0x0101010101010101u >> 56);
}

// Processes the brackets of one block. Returns the index of the one at which `depth` becomes 0, or -1.
int closing_bracket(std::uint64_t open, std::uint64_t close, std::int64_t& depth) {
  if (const int closing = count_of(close); closing < depth) {
    depth += count_of(open) - closing;
    return -1;
  }
  for (std::uint64_t both = open | close; both != 0; both &= both - 1) {
    depth += (open & both & -both) != 0 ? 1 : -1;
    if (depth == 0) return std::countr_zero(both);
  }
  return -1;
}

}  // namespace

const char* find_close(const char* begin, const char* end) {
  std::int64_t depth = 0;
  std::uint64_t in_string = 0;  // all ones while inside
  bool carry = false;
  for (const char* at = begin; at < end; at += 64) {
    const JsonBlock block = classify(at);
    const std::uint64_t escaped = (block.backslash | carry) != 0 ? escaped_bits(block.backslash, carry) : 0;
    const std::uint64_t inside = prefix_xor(block.quote & ~escaped) ^ in_string;
    in_string = -(inside >> 63);
    const int found = closing_bracket(block.open & ~inside, block.close & ~inside, depth);
    if (found >= 0) return at + found < end ? at + found + 1 : nullptr;
  }
  return nullptr;
}

const char* find_quote(const char* begin, const char* end) {
  for (const char* at = begin; at < end;) {
    const auto* quote = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
    if (quote == nullptr) return nullptr;
    const char* slash = quote;
    while (slash > begin && slash[-1] == '\\') --slash;
    if ((quote - slash) % 2 == 0) return quote;
    at = quote + 1;
  }
  return nullptr;
}

}  // namespace cli
