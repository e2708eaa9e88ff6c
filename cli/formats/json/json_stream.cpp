#include "cli/formats/json/json_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "cli/base/error.h"
#include "cli/base/text.h"
#include "cli/formats/json/file_kind.h"
#include "cli/formats/json/json_check.h"
#include "cli/formats/json/json_damage.h"

namespace cli {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

constexpr std::size_t kCutToken = 12;  // a fault at this distance from the end of the data may be a cut token

}  // namespace

JsonStream::JsonStream(std::unique_ptr<ByteSource> source, std::string path, std::size_t window)
    : window_(std::move(source), window), path_(std::move(path)) {}

char JsonStream::open() {
  while (window_.size() < kByteOrderMark.size() && window_.more()) continue;
  if (std::string_view(window_.begin(), window_.size()).starts_with(kByteOrderMark)) window_.skip(3);
  const char bracket = peek();
  bare_array_ = bracket == '[';
  if (bracket == '{' || bracket == '[') {
    window_.skip(1);
    return bracket;
  }
  const std::string ends = !ended()                   ? ""
                           : window_.damage().empty() ? "the JSON text ends here: "
                                                      : window_.damage() + ": ";
  while (window_.offset() == 0 && window_.size() < kForeignBytes && window_.more()) continue;
  const std::string_view what =
      window_.offset() == 0 ? foreign_file({window_.begin(), window_.size()}) : std::string_view();
  if (!what.empty()) throw Error(Exit::bad_content, fmt::format("{}: not a trace, but {}", path_, what));
  throw Error(Exit::bad_content, path_ + ": byte " + std::to_string(window_.offset()) + ": " + ends +
                                     "expected '{' or '[': a trace in JSON; copy or record it again");
}

// Returns '\0' at the end; ended() is then true.
char JsonStream::peek() {
  for (;;) {
    const char *at = window_.begin(), *end = window_.end();
    while (at < end && is_json_space(*at)) ++at;
    window_.skip(static_cast<std::size_t>(at - window_.begin()));
    if (at < end) return *at;
    if (!window_.more()) return '\0';
  }
}

void JsonStream::settle() {
  const Pending pending = std::exchange(pending_, Pending::none);
  if (pending == Pending::pass_large) pass_large();
  if (pending == Pending::find_event) go_on_at_event();
  if (pending == Pending::pass_lost) lose_whole();
  if (pending == Pending::find_member) comma_seen_ = resume_members(window_);
  if (pending != Pending::pass && pending != Pending::pass_to_element && pending != Pending::pass_to_member) return;
  window_.skip(text_size_ + (pending == Pending::pass_to_element ? gap_.size() : 0));
  comma_seen_ = pending != Pending::pass;
}

void JsonStream::finish() {
  settle();
  peek();
  if (!ended()) damage_.lose_member("", window_.offset(), "the end of the file");
  do window_.skip(window_.size());
  while (window_.more());
  if (!damage_.is_cut() && !window_.damage().empty()) damage_.doubt(window_.damage());
}

void JsonStream::cut(std::string_view expected) {
  damage_.cut(window_.offset() + window_.size(), expected, window_.damage());
  window_.skip(window_.size());
}

// Describes the fault of a text that may be incomplete.
std::optional<JsonFault> JsonStream::judge_begun(std::size_t size) const {
  const auto fault = find_json_fault({window_.begin(), size});
  return fault && fault->at + kCutToken < size ? fault : std::nullopt;
}

// Members of the top-level object.

namespace {

// Like for events: a longer value is checked before searching further for its end.
constexpr std::size_t kFirstMemberLook = 64 << 10;
constexpr std::size_t kCloseMemberLook = 4 << 10;  // after damage

const char* after(const char* last) { return last == nullptr ? nullptr : last + 1; }

// Returns the end of a number or word: the first byte that cannot be part of one.
const char* find_scalar_end(const char* begin, const char* end) {
  const auto* at = begin;
  while (at < end && std::strchr(" \n\r\t,]}:[{\"", *at) == nullptr) ++at;
  return at < end ? at : nullptr;
}

const char* find_value_end(const char* begin, const char* end) {
  if (begin == end) return nullptr;
  if (*begin == '{' || *begin == '[') return find_close(begin, end);
  return *begin == '"' ? after(find_quote(begin + 1, end)) : find_scalar_end(begin, end);
}

// Returns the index of the next character that is not white space; the text's size if there is none.
std::size_t next_place(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

// A missing bracket makes the events seem to be inside.
bool swallows_events(std::string_view text) {
  const std::size_t at = text.find("\"traceEvents\"");
  return at != text.npos && at > 0 && find_known_member(text.substr(at - 1)) == 1;
}

}  // namespace

bool JsonStream::next_member(std::string& key) {
  settle();
  while (reach_member()) {
    const JsonValue name = value_before(":");
    if (name.form == JsonValue::Form::good) key = name.text.substr(1, name.text.size() - 2);
    settle();
    if (name.form != JsonValue::Form::good) continue;
    if (peek() == ':') {
      window_.skip(1);
      key_ = key;
      return true;
    }
    if (ended()) {
      cut("':'");
      return false;
    }
    lose_member(window_.offset(), "':'");
  }
  return false;
}

// Moves to the quote of a key. Returns false if the object is closed or cut.
bool JsonStream::reach_member() {
  for (key_.clear();; settle()) {
    const char next = peek();
    if (ended()) {
      cut("',' or '}'");
      return false;
    }
    if (next == '"' && comma_seen_) return true;
    if (next == ',' && !comma_seen_) {
      window_.skip(1);
      comma_seen_ = true;
    } else if (next == '}') {
      window_.skip(1);
      peek();
      if (ended() || events_seen_) return false;
      lose_member(window_.offset(), "the end of the file");
    } else {
      lose_member(window_.offset(), comma_seen_ ? "a member's name in quotes" : "',' or '}'");
    }
  }
}

// `follows` contains the characters of which one has to be next, if the window has it.
JsonValue JsonStream::value_before(std::string_view follows) {
  peek();
  text_offset_ = window_.offset();
  for (std::size_t look = lost_member_ ? kCloseMemberLook : kFirstMemberLook;;) {
    const std::size_t held = std::min(window_.size(), look);
    const char *begin = window_.begin(), *close = find_value_end(begin, begin + held);
    const auto size = static_cast<std::size_t>(close == nullptr ? 0 : close - begin);
    if (close != nullptr && (size < held || window_.at_end())) {
      if (!has_next(size) && window_.size() <= kMaxMember && window_.more()) continue;
      return ended_value(size, follows);
    }
    if (held == look && judge_begun(look)) return unfinished_value();
    if (held == look) {
      look *= 4;
    } else if (window_.size() > kMaxMember || !window_.more()) {
      return unfinished_value();
    }
  }
}

// Returns true if the window has the character after the next `size` bytes.
bool JsonStream::has_next(std::size_t size) const {
  return next_place({window_.begin(), window_.size()}, size) < window_.size();
}

// A bracket may be missing if the text ends after the value, so that the events are inside.
JsonValue JsonStream::ended_value(std::size_t size, std::string_view follows) {
  const std::string_view all(window_.begin(), window_.size()), text = all.substr(0, size);
  const auto fault = find_json_fault(text);
  const std::size_t next = next_place(all, size);
  const bool last = next == all.size();
  const bool apart = last ? !swallows_events(text) : follows.find(all[next]) != follows.npos;
  const JsonFault stray{next, follows == ":" ? "':'" : "',' or '}'"};
  if (fault || !apart) return damaged_value(fault.value_or(stray), size);
  lost_member_ = false;
  pending_ = Pending::pass;
  text_size_ = size;
  return {JsonValue::Form::good, text};
}

JsonValue JsonStream::unfinished_value() {
  const std::string_view begun(window_.begin(), window_.size());
  const auto fault = judge_begun(begun.size());
  if (fault || swallows_events(begun)) return damaged_value(fault.value_or(JsonFault{begun.size(), "its end"}), {});
  if (window_.size() > kMaxMember) {
    pending_ = Pending::pass_large;
    return {JsonValue::Form::large, {}};
  }
  const auto missing = find_json_fault(begun);
  cut(missing ? missing->expected : "',' or '}'");
  return {JsonValue::Form::damaged, begun};
}

// `extent` is the size up to its apparent end.
JsonValue JsonStream::damaged_value(const JsonFault& fault, std::optional<std::size_t> extent) {
  const std::string_view all(window_.begin(), window_.size());
  const std::size_t next = next_place(all, extent.value_or(all.size()));
  const bool apart = next < all.size() && (all[next] == ',' || all[next] == '}');
  const bool trusted = apart && !swallows_events(all.substr(0, *extent));
  const std::size_t known = trusted ? *extent : find_known_member(all);
  lose_member(text_offset_ + fault.at, fault.expected);
  if (known == all.npos) return {JsonValue::Form::damaged, all};
  pending_ = trusted ? Pending::pass : Pending::pass_to_member;
  text_size_ = known;
  return {JsonValue::Form::damaged, all.substr(0, known)};
}

void JsonStream::lose_member(std::uint64_t at, std::string_view expected) {
  damage_.lose_member(key_, at, expected);
  lost_member_ = true;
  pending_ = Pending::find_member;
}

// Without checking: only brackets and quotes are followed to its end.
void JsonStream::pass_large() {
  std::size_t depth = 0;
  bool in_string = false;
  for (;;) {
    const char *at = window_.begin(), *end = window_.end();
    for (; at < end; ++at) {
      if (in_string && *at == '\\' && at + 1 == end) break;
      if (in_string && *at == '\\')
        ++at;
      else if (*at == '"')
        in_string = !in_string;
      else if (!in_string && (*at == '{' || *at == '['))
        ++depth;
      else if (!in_string && (*at == '}' || *at == ']'))
        --depth;
      else
        continue;
      if (depth == 0 && !in_string && *at != '\\') break;
    }
    const bool closed = at < end && depth == 0 && !in_string;
    window_.skip(static_cast<std::size_t>(at - window_.begin()) + (closed ? 1 : 0));
    if (closed) break;
    if (!window_.more()) return cut("the end of a large member");
  }
  comma_seen_ = false;
}

}  // namespace cli
