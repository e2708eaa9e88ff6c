#include "cli/formats/json/json_mend.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "cli/base/text.h"
#include "cli/formats/json/json_check.h"
#include "cli/formats/json/json_damage.h"

namespace cli {
namespace {

constexpr std::string_view kBareNumber = "a number that JSON does not allow", kBareWord = "a word without quotes", kBackslash = "a backslash in a string is not escaped",
                           kControl = "a raw control character in a string", kBytes = "bytes in a string that are not UTF-8",
                           kQuote = "a quote in a string is not escaped";

// A block of a file that was never written, which may hold the string's end.
constexpr std::string_view kHole("\0\0", 2);

// N/A or ncclFloat32 as the value of an argument.
bool is_bare_word(std::string_view word) {
  const auto is_part = [](char c) { return lower(c) != c || (c >= 'a' && c <= 'z') || is_digit(c) || c == '_' || c == '/' || c == '.'; };
  return !is_digit(word.front()) && std::all_of(word.begin(), word.end(), is_part) && word != "true" && word != "false" && word != "null";
}

// The size of the character of UTF-8 at the begin of `text`; 0: there is none.
std::size_t utf8_size(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return text.size() >= size && simdjson::validate_utf8(text.data(), size) ? size : 0;
}

class EventMender {
 public:
  explicit EventMender(std::string_view text) : text_(text) {}

  std::optional<MendedJson> mend() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        if (!take_string()) return std::nullopt;
      } else if (is_json_space(c) || std::string_view("{}[],:").find(c) != std::string_view::npos) {
        if (c == '{' || c == '[') brackets_ += c;
        if ((c == '}' || c == ']') && !brackets_.empty()) brackets_.pop_back();
        if (!is_json_space(c)) is_key_ = c == '{' || (c == ',' && in_object());
        mended_.text += c;
        ++at_;
      } else {
        take_word();
      }
    }
    if (mended_.fault.empty() || find_json_fault(mended_.text)) return std::nullopt;
    return std::move(mended_);
  }

 private:
  bool in_object() const { return !brackets_.empty() && brackets_.back() == '{'; }

  void found(std::size_t at, std::string_view fault) {
    if (!mended_.fault.empty()) return;
    mended_.at = at;
    mended_.fault = fault;
  }

  void take_word() {
    const std::size_t end = std::min(text_.find_first_of(",}] \t\r\n", at_), text_.size());
    const std::string word(text_.substr(at_, end - at_));
    std::string small = word;
    std::transform(small.begin(), small.end(), small.begin(), lower);
    const bool is_no_number = small.find("inf") != small.npos || small.find("nan") != small.npos || small.find(".#") != small.npos || small.starts_with("0x");
    const bool is_bare = brackets_.size() > 1 && is_bare_word(word);
    if (is_no_number || is_bare) found(at_, is_no_number ? kBareNumber : kBareWord);
    mended_.text += is_no_number || is_bare ? '"' + word + '"' : word;
    at_ = end;
  }

  // Whether what follows a string stands at `at`.
  bool follows_string(std::size_t at) const {
    at = after_space(text_, at);
    if (at == text_.size()) return false;
    if (is_key_) return text_[at] == ':';
    if (!in_object()) return text_[at] == ',' || text_[at] == ']';
    if (text_[at] == '}') return brackets_.size() > 1 || after_space(text_, at + 1) == text_.size();
    if (text_[at] != ',') return false;
    const std::string_view key = key_at(text_, after_space(text_, at + 1));
    return brackets_.size() > 1 ? !key.empty() : is_event_key(key);
  }

  // Writers that escape no backslashes write \" for a quote all the same; a path may end in a backslash.
  std::size_t end_of_string() const {
    for (std::size_t at = at_ + 1; at < text_.size(); ++at) {
      const bool escaped = text_[at] == '\\';
      if (escaped) ++at;
      if (at >= text_.size() || text_[at] != '"') continue;
      if (is_key_ && !escaped) return at;  // nobody names members after what a program says
      if (escaped ? !is_key_ && text_.substr(at + 1).starts_with(',') && follows_string(at + 1) : follows_string(at + 1)) return at;
    }
    return text_.npos;
  }

  bool take_string() {
    const std::size_t end = end_of_string();
    if (end == text_.npos) return false;
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    if (inside.find(kHole) != inside.npos) return false;
    const bool all_literal = has_odd_escape(inside);
    mended_.text += '"';
    for (std::size_t i = 0; i < inside.size();) i += take_character(inside.substr(i), at_ + 1 + i, all_literal);
    mended_.text += '"';
    at_ = end + 1;
    return true;
  }

  static bool has_odd_escape(std::string_view inside) {
    for (std::size_t i = 0; i < inside.size(); ++i) {
      if (inside[i] != '\\') continue;
      const std::size_t size = inside.substr(i).starts_with("\\u") ? 6 : 2;
      if (i + size > inside.size() || !has_valid_escapes(inside.substr(i, size))) return true;
      ++i;
    }
    return false;
  }

  // Returns how many bytes it took.
  std::size_t take_character(std::string_view rest, std::size_t at, bool all_literal) {
    if (rest[0] == '\\') {
      if (!all_literal || rest.starts_with("\\\"")) {
        mended_.text += rest.substr(0, 2);
        return 2;
      }
      found(at, kBackslash);
      mended_.text += "\\\\";
    } else if (rest[0] == '"') {
      found(at, kQuote);
      mended_.text += "\\\"";
    } else if (static_cast<unsigned char>(rest[0]) < 0x20) {
      found(at, kControl);
      mended_.text += fmt::format("\\u{:04x}", rest[0]);
    } else if (const std::size_t size = utf8_size(rest); size > 0) {
      mended_.text += rest.substr(0, size);
      return size;
    } else {
      found(at, kBytes);
      const auto byte = static_cast<unsigned char>(rest[0]);
      mended_.text += static_cast<char>(0xc0 | byte >> 6);
      mended_.text += static_cast<char>(0x80 | (byte & 0x3f));
    }
    return 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string brackets_;  // that are open
  bool is_key_ = false;   // the next string is a key
  MendedJson mended_;
};

}  // namespace

std::optional<MendedJson> mend_event(std::string_view event) { return EventMender(event).mend(); }

}  // namespace cli
