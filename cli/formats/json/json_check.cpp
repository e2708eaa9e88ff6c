#include "cli/formats/json/json_check.h"

#include <cstdint>
#include <string>

#include "cli/base/text.h"

namespace cli {
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
