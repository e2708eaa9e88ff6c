// The elements of the array of events.
#include <algorithm>
#include <cstring>

#include "cli/formats/json/json_check.h"
#include "cli/formats/json/json_damage.h"
#include "cli/formats/json/json_stream.h"

namespace cli {
namespace {

// An event longer than this is checked before searching further for its end, because one additional quote would hide
// it.
constexpr std::size_t kFirstLook = 16 << 10;
constexpr std::size_t kCloseLook = 512;  // after damage
constexpr std::size_t kMendLook = 64 << 10;
constexpr std::size_t kSmallestMaxEvent = 1 << 20;
constexpr std::size_t kLongestGap = 64;

}  // namespace

bool JsonStream::enter_array() {
  events_seen_ = comma_seen_ = true;
  gap_.clear();
  plain_gap_ = false;
  const bool is_array = peek() == '[';
  if (is_array) window_.skip(1);
  if (!is_array && !ended()) damage_.lose_member("traceEvents", window_.offset(), "'[': an array of events");
  return is_array;
}

bool JsonStream::next_element(std::string_view& text) {
  bool known = false;
  return next_element(text, nullptr, known);
}

bool JsonStream::next_element(std::string_view& text, KnownElements* elements, bool& known) {
  settle();
  while (reach_element()) {
    known = elements != nullptr && take_known(text, *elements);
    if (known) return true;
    if (!take_element(text)) continue;
    if (!is_blank_end(text)) return true;
    settle();
  }
  comma_seen_ = comma_seen_ && !ended() && *window_.begin() == '"';  // a member follows without the ']'
  return false;
}

bool JsonStream::take_known(std::string_view& text, KnownElements& elements) {
  const std::size_t size = elements.match(window_.begin(), window_.end());
  if (size == 0) return false;
  const bool gap_follows = is_gap_behind(size);
  if (!gap_follows && !is_followed_well(size)) return false;
  text_offset_ = window_.offset();
  text_size_ = size;
  text = {window_.begin(), size};
  pending_ = gap_follows ? Pending::pass_to_element : Pending::pass;
  after_damage_ = behind_lost_ = false;
  return true;
}

// Returns true if the bytes that separate events are after the next `size` bytes, followed by an event.
bool JsonStream::is_gap_behind(std::size_t size) const {
  const std::size_t gap = gap_.size();
  const char* const at = window_.begin() + size;
  return plain_gap_ && window_.size() > size + gap && at[gap] == '{' && std::memcmp(at, gap_.data(), gap) == 0;
}

// Returns true if they are within the element, on separate lines. It is then several events: one additional quote hid
// the end of the first, and another one, in a later event, balanced the brackets.
bool JsonStream::holds_gap() const {
  return gap_.find('\n') != gap_.npos &&
         std::string_view(window_.begin(), text_size_).find('}' + gap_ + '{') != std::string_view::npos;
}

// Moves to the '{' of an element. Returns false if the array is closed or cut.
bool JsonStream::reach_element() {
  if (!comma_seen_ && is_gap_behind(0)) {
    window_.skip(gap_.size());
    return comma_seen_ = true;
  }
  const std::uint64_t from = window_.offset();
  bool first = comma_seen_;
  for (;;) {
    const char next = peek();
    if (ended() && bare_array_ && !after_damage_ && text_size_ > 0 && window_.damage().empty()) return false;
    if (ended()) {
      cut(comma_seen_ ? "'{' or ']'" : "',' or ']'");
      return false;
    }
    if (next == '{') {
      if (!comma_seen_) damage_.mend(window_.offset(), "','");
      if (!first) learn_gap(from);
      return true;
    }
    if (next == ']' && closes_array()) {
      if (comma_seen_ && !first && !bare_array_) damage_.mend(window_.offset(), "'{': an event");
      window_.skip(1);
      return false;
    }
    if (next == ',') {
      if (comma_seen_) damage_.mend(window_.offset(), "'{': an event");
      comma_seen_ = true;
      window_.skip(1);
      continue;
    }
    if (ends_without_bracket()) {
      damage_.mend(window_.offset(), "']'");
      return false;
    }
    text_offset_ = window_.offset();
    refuse(0, comma_seen_ ? "'{': an event" : "',' or ']'");
    settle();
    first = true;
  }
}

// Returns true if this ']' closes the array. One caused by damage precedes an event, or is within one.
bool JsonStream::closes_array() {
  for (;;) {
    const std::string_view text(window_.begin(), window_.size());
    std::size_t at = after_space(text, 1);
    if (at < text.size() && text[at] == ',') at = after_space(text, at + 1);
    if (at < text.size()) return text[at] == '"' || text[at] == '}';
    if (text.size() >= kWindow || !window_.more()) return true;
  }
}

// Returns true if the text here belongs to the top-level object, because the ']' after the last event is missing.
bool JsonStream::ends_without_bracket() {
  if (bare_array_ || after_damage_) return false;
  while (window_.size() < kLookBehind && window_.more()) continue;
  const std::string_view text(window_.begin(), window_.size());
  const std::string_view key = key_at(text, 0);
  if (!key.empty()) return !is_event_key(key);
  return text.starts_with('}') && after_space(text, 1) == text.size() && window_.at_end();
}

// `text` is the empty object that some writers add after the last event of a bare array and its comma.
bool JsonStream::is_blank_end(std::string_view& text) {
  if (!bare_array_ || text.find_first_not_of(" \t\r\n{}") != text.npos) return false;
  for (;;) {
    const std::string_view held(window_.begin(), window_.size());
    const std::size_t next = held.find_first_not_of(" \t\r\n", text_size_);
    text = held.substr(0, text_size_);
    if (next != held.npos) return held[next] == ']';
    if (held.size() >= kWindow || !window_.more()) return true;
  }
}

// Returns false if it was broken; the walk has then passed it.
bool JsonStream::take_element(std::string_view& text) {
  text_offset_ = window_.offset();
  for (std::size_t look = after_damage_ ? kCloseLook : kFirstLook;;) {
    const std::size_t held = std::min(window_.size(), look);
    const char* close = find_close(window_.begin(), window_.begin() + held);
    if (close != nullptr) {
      text_size_ = static_cast<std::size_t>(close - window_.begin());
      if (!is_followed_well(text_size_)) return mend(text) || give_up({text_size_, "',' or ']'"});
      text = {window_.begin(), text_size_};
      pending_ = Pending::pass;
      after_damage_ = behind_lost_ = false;
      return true;
    }
    if (held < look) {
      if (!window_.more()) return mend(text) || give_up({window_.size(), "the end of an event"});
    } else if (judge_begun(look) || look >= max_event_) {
      return mend(text) || give_up({look, "an event of at most 16 MiB"});
    } else {
      look *= 4;
    }
  }
}

// Returns true if the text after the next `size` bytes may follow an element. Otherwise an additional bracket or quote
// ended it too early.
bool JsonStream::is_followed_well(std::size_t size) {
  while (window_.size() < size + kLookBehind && window_.more()) continue;
  const std::string_view text(window_.begin(), window_.size());
  std::size_t at = after_space(text, size);
  const bool comma = at < text.size() && text[at] == ',';
  if (comma) at = after_space(text, at + 1);
  if (at == text.size() || text[at] == '{' || text[at] == ']' || text[at] == ',') return true;
  if (text[at] == '}') return after_space(text, at + 1) == text.size();
  const std::string_view key = key_at(text, at), first = key_at(text, after_space(text, 1));
  return comma && (key == first || !is_event_key(key));  // an event that has lost its '{' begins like others
}

// Reports an element that is not returned. `otherwise` is used if no fault is found in it.
bool JsonStream::give_up(const JsonFault& otherwise) {
  const auto fault = find_json_fault({window_.begin(), std::min(otherwise.at, window_.size())});
  if (otherwise.at > kSmallestMaxEvent) max_event_ = std::max(kSmallestMaxEvent, max_event_ / 2);
  const JsonFault& worst = fault ? *fault : otherwise;
  text_size_ = 0;
  refuse(worst.at, worst.expected);
  settle();
  return false;
}

// An additional quote may have ended the element too early or too late, so the text before the next line break between
// events is tried, too. An element with such a break is more than one event: one has lost its end, and those after it
// are valid.
bool JsonStream::mend(std::string_view& text) {
  const bool handed_out = pending_ == Pending::pass || pending_ == Pending::pass_to_element;
  const std::string_view held(window_.begin(),
                              std::min(window_.size(), std::max(handed_out ? text_size_ : 0, kMendLook)));
  const bool has_lines = gap_.find('\n') != gap_.npos;
  const std::size_t close = has_lines ? held.find('}' + gap_ + '{') : held.npos;
  const std::size_t line = close == held.npos ? 0 : close + 1;
  std::size_t size = line;
  if (has_lines && held.substr(0, std::max(line, handed_out ? text_size_ : 0)).find(gap_ + '{') != held.npos)
    return false;
  std::optional<MendedJson> mended;
  if (handed_out && (line == 0 || text_size_ < line)) mended = mend_event(held.substr(0, size = text_size_));
  if (!mended && line > 0) mended = mend_event(held.substr(0, size = line));
  if (!mended) return false;
  damage_.repair(text_offset_ + mended->at, mended->fault);
  mended_ = std::move(mended->text);
  text_size_ = size;
  mended_.resize(mended_.size() + Window::kPadding);
  text = std::string_view(mended_).substr(0, mended_.size() - Window::kPadding);
  pending_ = Pending::pass;
  after_damage_ = behind_lost_ = false;
  return true;
}

void JsonStream::refuse(std::size_t at, std::string_view expected) {
  const bool handed_out = pending_ == Pending::pass || pending_ == Pending::pass_to_element;
  pending_ = handed_out && is_gap_behind(text_size_) && !holds_gap() ? Pending::pass_lost : Pending::find_event;
  refused_at_ = at;
  refusal_ = expected;
}

void JsonStream::refuse_whole(std::size_t at, std::string_view expected) {
  refuse(at, expected);
  pending_ = Pending::pass_lost;
}

void JsonStream::lose_whole() {
  damage_.lose_event(text_offset_ + refused_at_, refusal_, text_offset_, text_offset_ + text_size_);
  window_.skip(text_size_);
  comma_seen_ = false;
  behind_lost_ = true;
}

// Text after a lost event that is no event is its rest: an additional quote ended it too early.
void JsonStream::go_on_at_event() {
  const std::uint64_t from = text_offset_;
  const bool rest = behind_lost_ && *window_.begin() != '{';
  resume_events(window_, gap_);
  if (rest)
    damage_.lose_rest(from, window_.offset());
  else
    damage_.lose_event(from + refused_at_, refusal_, from, window_.offset());
  comma_seen_ = after_damage_ = true;
  behind_lost_ = false;
}

// Stores the text between two events, for resume_events().
void JsonStream::learn_gap(std::uint64_t from) {
  const auto size = static_cast<std::size_t>(window_.offset() - from);
  const char* begin = window_.behind(size);
  if (begin == nullptr || size > kLongestGap) return;
  if (gap_.size() == size && std::memcmp(gap_.data(), begin, size) == 0) return;
  gap_.assign(begin, size);
  plain_gap_ = std::count(gap_.begin(), gap_.end(), ',') == 1;
}

}  // namespace cli
