#include "cli/read/json_check.h"

#include <cstdint>
#include <string>

namespace cli {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
unsigned byte_of(char c) { return static_cast<unsigned char>(c); }

// Each method reads one piece at at_ and throws JsonFault where it is not what it must be.
class Judge {
 public:
  explicit Judge(std::string_view text) : text_(text) {}

  void document() {
    value(0);
    space();
    if (at_ != text_.size()) fail("the end");
  }
  std::size_t first_value() {
    value(0);
    return at_;
  }
  void number() {
    take('-');
    if (!take('0')) digits();
    if (take('.')) digits();
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      digits();
    }
  }
  void escape() {
    if (take('u')) {
      for (int i = 0; i < 4; ++i, ++at_) {
        if (!is_hex(here())) fail("four hexadecimal digits after \\u");
      }
    } else if (std::string_view("\"\\/bfnrt").find(here()) == std::string_view::npos) {
      fail("an escape sequence after the backslash");
    } else {
      ++at_;
    }
  }
  bool ended() const { return at_ == text_.size(); }
  bool take(char c) {
    if (ended() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip() { ++at_; }

 private:
  [[noreturn]] void fail(const char* expected) const { throw JsonFault{at_, expected}; }
  char here() const { return ended() ? '\0' : text_[at_]; }

  void space() {
    while (!ended() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  void value(int depth) {
    space();
    if (take('{')) return object(depth + 1);
    if (take('[')) return array(depth + 1);
    if (take('"')) return string();
    if (here() == '-' || is_digit(here())) return number();
    for (std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return;
    }
    fail("a value");
  }

  void object(int depth) {
    if (depth > kMaxJsonDepth) fail("fewer brackets within brackets");
    space();
    if (take('}')) return;
    do {
      space();
      if (!take('"')) fail("a member's name in quotes");
      string();
      space();
      if (!take(':')) fail("':'");
      value(depth);
      space();
    } while (take(','));
    if (!take('}')) fail("',' or '}'");
  }

  void array(int depth) {
    if (depth > kMaxJsonDepth) fail("fewer brackets within brackets");
    space();
    if (take(']')) return;
    do {
      value(depth);
      space();
    } while (take(','));
    if (!take(']')) fail("',' or ']'");
  }

  void digits() {
    if (!is_digit(here())) fail("a digit");
    while (is_digit(here())) ++at_;
  }

  void string() {
    while (!take('"')) {
      if (ended()) fail("the closing quote of a string");
      if (byte_of(here()) < 0x20) fail("no raw control character in a string (a line break must be written as \\n)");
      if (take('\\'))
        escape();
      else
        character();
    }
  }

  // One character of UTF-8 (RFC 3629): shortest form, no surrogates, at most U+10FFFF.
  void character() {
    const unsigned lead = byte_of(here());
    if (lead < 0x80) return skip();
    const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    std::uint32_t code = lead & (0x3fu >> more);
    if (lead < 0xc2 || lead > 0xf4) fail("UTF-8");
    for (int i = 1; i <= more; ++i) {
      const std::size_t next = at_ + static_cast<std::size_t>(i);
      if (next >= text_.size() || (byte_of(text_[next]) & 0xc0) != 0x80) fail("UTF-8");
      code = code << 6 | (byte_of(text_[next]) & 0x3f);
    }
    const bool overlong = (more == 2 && code < 0x800) || (more == 3 && code < 0x10000);
    if (overlong || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) fail("UTF-8");
    at_ += static_cast<std::size_t>(more) + 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

template <typename Check>
std::optional<JsonFault> fault_of(std::string_view text, Check check) {
  Judge judge(text);
  try {
    check(judge);
  } catch (const JsonFault& fault) {
    return fault;
  }
  if (judge.ended()) return std::nullopt;
  return JsonFault{0, "the end"};
}

}  // namespace

std::optional<JsonFault> find_json_fault(std::string_view text) {
  return fault_of(text, [](Judge& judge) { judge.document(); });
}

JsonExtent find_json_extent(std::string_view text) {
  try {
    return {Judge(text).first_value(), {}};
  } catch (const JsonFault& fault) {
    return {fault.at, fault};
  }
}

bool is_json_number(std::string_view text) {
  return !fault_of(text, [](Judge& judge) { judge.number(); });
}

bool has_valid_escapes(std::string_view text) {
  return !fault_of(text, [](Judge& judge) {
    for (; !judge.ended(); judge.ended() ? void() : judge.skip()) {
      while (judge.take('\\')) judge.escape();
    }
  });
}

}  // namespace cli
