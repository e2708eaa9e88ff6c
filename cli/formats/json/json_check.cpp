#include "cli/formats/json/json_check.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "cli/base/text.h"
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

namespace {

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
unsigned byte_of(char c) { return static_cast<unsigned char>(c); }

// Each method reads one element at at_ and returns false if it is invalid; fault() then describes it. No exceptions are
// used, because damaged files are checked very often.
class Judge {
 public:
  explicit Judge(std::string_view text) : text_(text) {}

  bool document() {
    if (!value(0)) return false;
    space();
    return ended() || fail("the end");
  }
  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (!take('e') && !take('E')) return true;
    if (!take('+')) take('-');
    return digits();
  }
  bool escape() {
    if (!take('u')) {
      if (std::string_view("\"\\/bfnrt").find(here()) == std::string_view::npos) {
        return fail("an escape sequence after the backslash");
      }
      return skip();
    }
    for (int i = 0; i < 4; ++i, ++at_) {
      if (!is_hex(here())) return fail("four hexadecimal digits after \\u");
    }
    return true;
  }
  bool ended() const { return at_ == text_.size(); }
  bool take(char c) {
    if (ended() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool skip() {
    ++at_;
    return true;
  }
  std::size_t at() const { return at_; }
  JsonFault fault() const { return {at_, expected_}; }

 private:
  bool fail(const char* expected) {
    expected_ = expected;
    return false;
  }
  char here() const { return ended() ? '\0' : text_[at_]; }

  void space() {
    while (!ended() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) ++at_;
  }

  bool value(int depth) {
    space();
    if (take('{')) return object(depth + 1);
    if (take('[')) return array(depth + 1);
    if (take('"')) return string();
    if (here() == '-' || is_digit(here())) return number();
    for (std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return true;
      }
    }
    return fail("a value");
  }

  bool object(int depth) {
    if (depth > kMaxJsonDepth) return fail("fewer brackets within brackets");
    space();
    if (take('}')) return true;
    do {
      if (!member(depth)) return false;
    } while (take(','));
    return take('}') || fail("',' or '}'");
  }

  bool member(int depth) {
    space();
    if (!take('"')) return fail("a member's name in quotes");
    if (!string()) return false;
    space();
    if (!take(':')) return fail("':'");
    if (!value(depth)) return false;
    space();
    return true;
  }

  bool array(int depth) {
    if (depth > kMaxJsonDepth) return fail("fewer brackets within brackets");
    space();
    if (take(']')) return true;
    do {
      if (!value(depth)) return false;
      space();
    } while (take(','));
    return take(']') || fail("',' or ']'");
  }

  bool digits() {
    if (!is_digit(here())) return fail("a digit");
    while (is_digit(here())) ++at_;
    return true;
  }

  bool string() {
    while (!take('"')) {
      if (ended()) return fail("the closing quote of a string");
      if (byte_of(here()) < 0x20) {
        return fail("no raw control character in a string (a line break must be written as \\n)");
      }
      if (!(take('\\') ? escape() : character())) return false;
    }
    return true;
  }

  // One character of UTF-8 (RFC 3629): shortest form, no surrogates, at most U+10FFFF.
  bool character() {
    const unsigned lead = byte_of(here());
    if (lead < 0x80) return skip();
    const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    std::uint32_t code = lead & (0x3fu >> more);
    if (lead < 0xc2 || lead > 0xf4) return fail("UTF-8");
    for (int i = 1; i <= more; ++i) {
      const std::size_t next = at_ + static_cast<std::size_t>(i);
      if (next >= text_.size() || (byte_of(text_[next]) & 0xc0) != 0x80) return fail("UTF-8");
      code = code << 6 | (byte_of(text_[next]) & 0x3f);
    }
    const bool overlong = (more == 2 && code < 0x800) || (more == 3 && code < 0x10000);
    if (overlong || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return fail("UTF-8");
    at_ += static_cast<std::size_t>(more) + 1;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  const char* expected_ = "";
};

}  // namespace

std::optional<JsonFault> find_json_fault(std::string_view text) {
  Judge judge(text);
  if (judge.document()) return std::nullopt;
  return judge.fault();
}

bool is_json_number(std::string_view text) {
  Judge judge(text);
  return judge.number() && judge.ended();
}

bool has_valid_escapes(std::string_view text) {
  Judge judge(text);
  while (!judge.ended()) {
    if (!(judge.take('\\') ? judge.escape() : judge.skip())) return false;
  }
  return true;
}

}  // namespace cli
