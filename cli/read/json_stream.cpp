#include "cli/read/json_stream.h"

#include <cstring>
#include <utility>

#include "cli/error.h"
#include "cli/read/json_check.h"
#include "cli/read/json_split.h"

namespace cli {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kCutToken = 12;  // a fault this close to the end of what is held may only be a cut token

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

const char* after(const char* last) { return last == nullptr ? nullptr : last + 1; }

// The end of a number or word: the first byte that cannot be in one.
const char* find_scalar_end(const char* begin, const char* end) {
  for (; begin < end; ++begin) {
    if (is_space(*begin) || std::strchr(",]}:[{\"", *begin) != nullptr) return begin;
  }
  return nullptr;
}

}  // namespace

JsonStream::JsonStream(std::unique_ptr<ByteSource> source, std::string path, std::size_t window)
    : window_(std::move(source), window), path_(std::move(path)) {}

char JsonStream::open() {
  while (window_.size() < kByteOrderMark.size() && window_.more()) continue;
  if (std::string_view(window_.begin(), window_.size()).starts_with(kByteOrderMark)) window_.skip(3);
  const char bracket = peek();
  if (bracket != '{' && bracket != '[') fail(window_.offset(), "'{' or '[': a trace in JSON");
  window_.skip(1);
  return bracket;
}

char JsonStream::peek() {
  for (;;) {
    const char *at = window_.begin(), *end = window_.end();
    while (at < end && is_space(*at)) ++at;
    window_.skip(static_cast<std::size_t>(at - window_.begin()));
    if (at < end) return *at;
    if (!window_.more()) return '\0';
  }
}

// Takes the comma before all but the first; false and the bracket taken when `close` comes instead.
bool JsonStream::next_item(char close, bool& first) {
  char next = peek();
  if (next == close) {
    window_.skip(1);
    return false;
  }
  if (!first) {
    take(',', close == '}' ? "',' or '}'" : "',' or ']'");
    next = peek();
  }
  first = false;
  return true;
}

bool JsonStream::next_member(std::string& key) {
  if (!next_item('}', first_member_)) return false;
  if (peek() != '"') fail(window_.offset(), "a member's name in quotes");
  key = value();
  key = key.substr(1, key.size() - 2);
  peek();
  take(':', "':'");
  return true;
}

void JsonStream::enter_array() {
  peek();
  take('[', "'[': an array of events");
  first_element_ = true;
}

bool JsonStream::next_element(std::string_view& text) {
  if (!next_item(']', first_element_)) return false;
  if (peek() != '{') fail(window_.offset(), "'{': an event");
  text = whole(find_close);
  return true;
}

std::string_view JsonStream::value() {
  std::string_view text;
  const char first = peek();
  if (first == '{' || first == '[') {
    text = whole(find_close);
  } else if (first == '"') {
    text = whole([](const char* begin, const char* end) { return after(find_quote(begin + 1, end)); });
  } else {
    text = whole(find_scalar_end);
  }
  if (find_json_fault(text)) fail_in(text, "a value");
  return text;
}

bool JsonStream::next_is_long_string(std::size_t most_bytes) {
  if (peek() != '"') return false;
  for (;;) {
    if (find_quote(window_.begin() + 1, window_.end()) != nullptr) return false;
    if (window_.size() > most_bytes) return true;
    if (!window_.more()) return false;
  }
}

void JsonStream::skip_value() {
  if (peek() == '"') return skip_string();
  value();
}

// A piece at a time; an escape is left whole for the next piece.
void JsonStream::skip_string() {
  text_offset_ = window_.offset();
  window_.skip(1);
  for (;;) {
    const char *at = window_.begin(), *end = window_.end();
    while (at < end && *at != '"' && *at != '\\') ++at;
    const bool escape = at + 1 < end && *at == '\\', closed = at < end && *at == '"';
    window_.skip(static_cast<std::size_t>(at - window_.begin()) + (escape ? 2 : closed ? 1 : 0));
    if (closed) return;
    if (!escape && !window_.more()) fail(window_.offset() + window_.size(), "the closing quote of a string");
  }
}

void JsonStream::finish() {
  if (peek() != '\0' || window_.size() != 0) fail(window_.offset(), "the end of the file");
}

void JsonStream::take(char c, const char* expected) {
  if (window_.size() == 0 || *window_.begin() != c) fail(window_.offset(), expected);
  window_.skip(1);
}

template <typename Find>
std::string_view JsonStream::whole(Find find) {
  for (;;) {
    const char* close = find(window_.begin(), window_.end());
    if (close != nullptr) {
      const std::string_view text(window_.begin(), static_cast<std::size_t>(close - window_.begin()));
      text_offset_ = window_.offset();
      window_.skip(text.size());
      return text;
    }
    if (window_.size() >= kWindow) judge_unfinished(false);
    if (!window_.more()) judge_unfinished(true);
  }
}

// Says why an item has no end: it is broken somewhere before (a quote is missing), the file ends, or it is too big.
void JsonStream::judge_unfinished(bool at_end) const {
  const auto fault = find_json_fault({window_.begin(), window_.size()});
  const std::size_t at = fault ? fault->at : window_.size();
  if (fault && (at_end || at + kCutToken < window_.size())) fail(window_.offset() + at, fault->expected);
  if (at_end) fail(window_.offset() + at, "',' or a closing bracket");
  if (window_.size() >= kMaxItem) fail(window_.offset(), "an event or member of at most 64 MiB here");
}

void JsonStream::fail(std::uint64_t offset, const std::string& expected) const {
  const bool ends = window_.at_end() && offset >= window_.offset() + window_.size();
  throw Error(Exit::bad_content,
              path_ + ": byte " + std::to_string(offset) + ": " + (ends ? "the JSON text ends here: " : "") +
                  "expected " + expected +
                  "; the file was cut or damaged, or its writer did not escape a name: copy or record it again");
}

void JsonStream::fail_in(std::string_view text, const std::string& otherwise) const {
  const auto fault = find_json_fault(text);
  fail(text_offset_ + (fault ? fault->at : 0), fault ? fault->expected : otherwise);
}

}  // namespace cli
