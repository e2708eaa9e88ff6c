// The elements of the array of events.
#include <algorithm>
#include <cstring>

#include "cli/read/json_split.h"
#include "cli/read/json_stream.h"

namespace cli {
namespace {

// An event longer than this is looked at before its end is searched for further: one quote too many would hide it.
constexpr std::size_t kFirstLook = 16 << 10;
constexpr std::size_t kCloseLook = 512;  // after damage
constexpr std::size_t kSmallestMaxEvent = 1 << 20;
constexpr std::size_t kLongestGap = 64;

}  // namespace

void JsonStream::enter_array() {
  events_seen_ = comma_seen_ = true;
  gap_.clear();
  plain_gap_ = false;
  if (peek() == '[') return window_.skip(1);
  if (!ended()) damage_.lose_member("traceEvents", window_.offset(), "'[': an array of events");
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
  comma_seen_ = comma_seen_ && !ended() && *window_.begin() == '"';  // a member follows, without the ']'
  return false;
}

bool JsonStream::take_known(std::string_view& text, KnownElements& elements) {
  const std::size_t size = elements.match(window_.begin(), window_.end());
  if (size == 0 || !(is_gap_behind(size) || is_followed_well(size))) return false;
  text_offset_ = window_.offset();
  text_size_ = size;
  text = {window_.begin(), size};
  pending_ = Pending::pass;
  after_damage_ = false;
  return true;
}

// Do the bytes that separate events stand behind the next `size`, and an event behind them?
bool JsonStream::is_gap_behind(std::size_t size) const {
  const std::size_t gap = gap_.size();
  const char* const at = window_.begin() + size;
  return plain_gap_ && window_.size() > size + gap && at[gap] == '{' && std::memcmp(at, gap_.data(), gap) == 0;
}

// Stands at the '{' of an element. False: the array is closed, or cut.
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
    if (ended()) return cut(comma_seen_ ? "'{' or ']'" : "',' or ']'"), false;
    if (next == '{') {
      if (!comma_seen_) damage_.mend(window_.offset(), "','");
      if (!first) learn_gap(from);
      return true;
    }
    if (next == ']' && is_followed_well(1)) {
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
    if (ends_without_bracket()) return damage_.mend(window_.offset(), "']'"), false;
    text_offset_ = window_.offset();
    refuse(0, comma_seen_ ? "'{': an event" : "',' or ']'");
    settle();
    first = true;
  }
}

// What stands here belongs to the top-level object: the ']' behind the last event is missing.
bool JsonStream::ends_without_bracket() {
  if (bare_array_ || after_damage_) return false;
  for (;;) {
    const Follow follow = follow_of_lost_bracket({window_.begin(), window_.size()});
    if (follow != Follow::unknown) return follow == Follow::well;
    if (!window_.more()) return true;
  }
}

// `text` is the empty object that some writers put behind the last event of a bare array, after its comma.
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

// False: it was broken, and the walk is behind it.
bool JsonStream::take_element(std::string_view& text) {
  text_offset_ = window_.offset();
  for (std::size_t look = after_damage_ ? kCloseLook : kFirstLook;;) {
    const std::size_t held = std::min(window_.size(), look);
    const char* close = find_close(window_.begin(), window_.begin() + held);
    if (close != nullptr) {
      text_size_ = static_cast<std::size_t>(close - window_.begin());
      if (!is_followed_well(text_size_)) return give_up({text_size_, "',' or ']'"});
      text = {window_.begin(), text_size_};
      pending_ = Pending::pass;
      after_damage_ = false;
      return true;
    }
    if (held < look) {
      if (!window_.more()) return give_up({window_.size(), "the end of an event"});
    } else if (has_fault_within(look) || look >= max_event_) {
      return give_up({look, "an event of at most 16 MiB"});
    } else {
      look *= 4;
    }
  }
}

bool JsonStream::has_fault_within(std::size_t size) {
  const auto fault = judge_begun(size);
  effort_.spend(fault ? fault->at : size);
  return fault.has_value();
}

// An element that is not handed out. `otherwise`: where no fault is found in it.
bool JsonStream::give_up(const JsonFault& otherwise) {
  const auto fault = find_json_fault({window_.begin(), std::min(otherwise.at, window_.size())});
  if (otherwise.at > kSmallestMaxEvent) max_event_ = std::max(kSmallestMaxEvent, max_event_ / 2);
  const JsonFault& worst = fault ? *fault : otherwise;
  effort_.spend(worst.at);
  refuse(worst.at, worst.expected);
  settle();
  return false;
}

void JsonStream::refuse(std::size_t at, std::string_view expected) {
  if (pending_ == Pending::pass) effort_.spend(2 * text_size_);  // by who was handed it
  pending_ = Pending::find_event;
  search_from_ = 1;
  refused_at_ = at;
  refusal_ = expected;
}

void JsonStream::refuse_whole(std::size_t at, std::string_view expected) {
  constexpr std::string_view space = " \t\r\n";
  const std::string_view held(window_.begin(), window_.size());
  std::size_t next = held.find_first_not_of(space, text_size_);
  if (next != held.npos && held[next] == ',') next = held.find_first_not_of(space, next + 1);
  refuse(at, expected);  // and search behind it, where no sound event follows: a quote may have ended it too early
  search_from_ = text_size_;
  if (next == held.npos || held[next] == ']') pending_ = Pending::pass_lost;
  if (pending_ == Pending::pass_lost || held[next] != '{') return;
  const std::string_view gap = held.substr(text_size_, next - text_size_);
  if (is_apart(held.substr(next, kLookAhead), gap)) pending_ = Pending::pass_lost;
}

// `next` is no piece of the element before it: a whole event, or another object as far from it as events are.
bool JsonStream::is_apart(std::string_view next, std::string_view gap) {
  const JsonExtent extent = find_json_extent(next);
  effort_.spend(extent.size);
  if (extent.fault) return extent.size == next.size();
  return gap == gap_ || gap_.empty() || is_whole_event(next.substr(0, extent.size));
}

void JsonStream::lose_whole() {
  damage_.lose_event(text_offset_ + refused_at_, refusal_, text_offset_, text_offset_ + text_size_);
  window_.skip(text_size_);
  comma_seen_ = false;
}

void JsonStream::go_on_at_event() {
  const std::uint64_t from = text_offset_;
  resume_events(window_, search_from_, gap_, effort_);
  damage_.lose_event(from + refused_at_, refusal_, from, window_.offset());
  comma_seen_ = after_damage_ = true;
}

// Does what stands behind the next `size` bytes, an element or the bracket that closes the array, belong there?
bool JsonStream::is_followed_well(std::size_t size) {
  for (;;) {
    const std::string_view held(window_.begin(), window_.size());
    const Follow follow = held[0] == ']' ? follow_of_array(held) : follow_of_event(held, size, gap_, effort_);
    if (follow != Follow::unknown) return follow == Follow::well;
    if (!window_.more()) return true;
  }
}

// What stands between two events, for resume_events.
void JsonStream::learn_gap(std::uint64_t from) {
  const auto size = static_cast<std::size_t>(window_.offset() - from);
  const char* begin = window_.behind(size);
  if (begin == nullptr || size > kLongestGap) return;
  if (gap_.size() == size && std::memcmp(gap_.data(), begin, size) == 0) return;
  gap_.assign(begin, size);
  plain_gap_ = std::count(gap_.begin(), gap_.end(), ',') == 1;
}

}  // namespace cli
