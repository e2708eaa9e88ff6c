#include "cli/formats/json/json_damage.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/base/text.h"
#include "cli/formats/json/json_check.h"

namespace cli {

namespace {

constexpr std::size_t kLongestKey = 64;
constexpr std::size_t npos = std::string_view::npos;

constexpr std::array<std::string_view, 20> kEventKeys{"ph",    "cat", "name",    "pid",     "tid",      "ts",  "dur",
                                                      "args",  "id",  "bp",      "tts",     "cname",    "s",   "sf",
                                                      "scope", "id2", "bind_id", "flow_in", "flow_out", "tdur"};

constexpr std::array<std::string_view, 20> kMembers{
    "traceEvents",         "baseTimeNanoseconds", "distributedInfo", "deviceProperties", "displayTimeUnit",
    "traceName",           "schemaVersion",       "host_name",       "trace_id",         "record_shapes",
    "with_stack",          "with_flops",          "with_modules",    "profile_memory",   "cuda_runtime_version",
    "cuda_driver_version", "systemTraceEvents",   "stackFrames",     "otherData",        "metadata"};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace

std::size_t after_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_json_space(text[at])) ++at;
  return at;
}

char before(std::string_view text, std::size_t at) {
  const std::size_t stop = at > kLookBehind ? at - kLookBehind : 0;
  while (at > stop && is_json_space(text[at - 1])) --at;
  return at > stop ? text[at - 1] : '\0';
}

bool is_inside(std::string_view text, std::size_t at) {
  const char last = before(text, at);
  return last == ':' || last == '[';
}

std::string_view key_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '"') return {};
  const std::size_t quote = text.substr(0, std::min(text.size(), at + 2 + kLongestKey)).find('"', at + 1);
  if (quote == npos) return {};
  const std::size_t colon = after_space(text, quote + 1);
  const std::string_view key = text.substr(at + 1, quote - at - 1);
  const bool plain = std::all_of(key.begin(), key.end(), [](char c) { return c >= ' ' && c != '\\'; });
  return plain && colon < text.size() && text[colon] == ':' ? key : std::string_view{};
}

bool is_event_key(std::string_view key) { return among(kEventKeys, key); }

bool is_known_member(std::string_view key) { return among(kMembers, key); }

namespace {

constexpr std::size_t kLookAhead = 1 << 10;  // enough for a key, or the text after ']'

bool begins_event(std::string_view text, std::size_t at, std::string_view gap) {
  const std::string_view key = key_at(text, after_space(text, at + 1));
  if (key.empty()) return false;
  if (gap.find('\n') != gap.npos && text.substr(0, at).ends_with(gap)) return true;
  return before(text, at) == ',' && is_event_key(key);
}

bool ends_array(std::string_view text, std::size_t at) {
  const std::size_t next = after_space(text, at + 1);
  if (next < text.size() && text[next] == ',') return is_known_member(key_at(text, after_space(text, next + 1)));
  const bool closed = next < text.size() && text[next] == '}';
  return before(text, at) == '}' && after_space(text, next + (closed ? 1 : 0)) == text.size();
}

}  // namespace

void resume_events(Window& window, std::string_view gap) {
  for (std::size_t at = 1;;) {
    const std::string_view text(window.begin(), window.size());
    const std::size_t hit = std::min(text.find_first_of("{]", at), text.size());
    if (text.size() - hit < kLookAhead && !window.at_end()) {
      const std::size_t passed = hit > kLookBehind ? hit - kLookBehind : 0;
      window.skip(passed);
      at = hit - passed;
      window.more();
      continue;
    }
    if (hit == text.size() || (text[hit] == '{' ? begins_event(text, hit, gap) : ends_array(text, hit)))
      return window.skip(hit);
    at = hit + 1;
  }
}

std::size_t find_known_member(std::string_view text) {
  for (std::size_t at = text.find('"', 1); at != text.npos; at = text.find('"', at + 1)) {
    const std::string_view key = key_at(text, at);
    if (!is_known_member(key)) continue;
    const std::size_t value = after_space(text, text.find(':', at + key.size()) + 1);
    const bool events = key == "traceEvents" && value < text.size() && text[value] == '[';
    const char last = before(text, at);
    if (events || (key != "traceEvents" && (last == ',' || last == '}' || last == ']'))) return at;
  }
  return text.npos;
}

bool resume_members(Window& window) {
  for (;;) {
    const std::string_view text(window.begin(), window.size());
    const std::size_t found = find_known_member(text);
    if (found != text.npos && (text.size() - found > 2 * kLookBehind || window.at_end())) {
      window.skip(found);
      return true;
    }
    const std::size_t keep = 4 * kLookBehind;
    window.skip(found != text.npos ? 0 : text.size() > keep ? text.size() - keep : 0);
    if (window.at_end()) {
      window.skip(window.size());
      return false;
    }
    window.more();
  }
}

namespace {

// Only texts that are kept are built, because a file may have millions of faults.
template <typename MakeText>
void name(std::vector<std::string>& named, MakeText make_text) {
  if (named.size() < JsonDamage::kNamed) named.push_back(make_text());
}

std::string text(const Damage& damage) { return fmt::format("byte {}: {}", damage.byte, damage.what); }

// Returns "(the first 5 are named)"; "" if all are.
std::string unnamed(std::uint64_t count) {
  return count > JsonDamage::kNamed ? fmt::format(" (the first {} are listed)", JsonDamage::kNamed) : "";
}

}  // namespace

void JsonDamage::lose_event(std::uint64_t at, std::string_view expected, std::uint64_t from, std::uint64_t until) {
  ++lost_events_;
  lost_bytes_ += until - from;
  name(events_, [&] {
    const Damage damage{at, fmt::format("expected {}; an event is skipped, bytes {} to {}", expected, from, until)};
    if (!first_event_) first_event_ = damage;
    return text(damage);
  });
}

void JsonDamage::repair(std::uint64_t at, std::string_view fault) {
  ++repaired_;
  name(repairs_, [&] {
    const Damage damage{at, fmt::format("{}; the event is kept", fault)};
    if (!first_other_) first_other_ = damage;
    return text(damage);
  });
}

void JsonDamage::mend(std::uint64_t at, std::string_view expected) {
  ++mended_;
  name(commas_, [&] {
    const Damage damage{at, fmt::format("expected {}; no event is lost", expected)};
    if (!first_other_) first_other_ = damage;
    return text(damage);
  });
}

void JsonDamage::lose_member(std::string_view key, std::uint64_t at, std::string_view expected) {
  ++lost_members_;
  name(other_, [&] {
    const Damage damage{at, key.empty()
                                ? fmt::format("expected {}; the data there is not an event and is skipped", expected)
                                : fmt::format("expected {}; the member \"{}\" is skipped", expected, key)};
    if (!first_other_) first_other_ = damage;
    return text(damage);
  });
}

void JsonDamage::cut(std::uint64_t at, std::string_view expected, std::string_view why) {
  if (is_cut()) return;
  cut_ = fmt::format("byte {}: the JSON text ends here, expected {}; the rest is missing", at, expected);
  if (!why.empty()) cut_ += fmt::format(" ({})", why);
}

std::vector<std::string> JsonDamage::notes() const {
  std::vector<std::string> notes = events_;
  if (lost_events_ > 0) {
    notes.push_back(fmt::format("at least {} {} of the file could not be read and {} skipped{}", lost_events_,
                                lost_events_ == 1 ? "event" : "events", lost_events_ == 1 ? "is" : "are",
                                unnamed(lost_events_)));
  }
  notes.insert(notes.end(), repairs_.begin(), repairs_.end());
  if (repaired_ > 0) {
    notes.push_back(fmt::format("{} {} invalid JSON and {} repaired as {} meant{}", repaired_,
                                repaired_ == 1 ? "event was" : "events were", repaired_ == 1 ? "is" : "are",
                                repaired_ == 1 ? "it was" : "they were", unnamed(repaired_)));
  }
  notes.insert(notes.end(), commas_.begin(), commas_.end());
  if (mended_ > kNamed) notes.push_back(fmt::format("{} commas are missing or extra{}", mended_, unnamed(mended_)));
  notes.insert(notes.end(), other_.begin(), other_.end());
  if (lost_members_ > kNamed) {
    notes.push_back(fmt::format("{} places outside the events are skipped{}", lost_members_, unnamed(lost_members_)));
  }
  if (!cut_.empty()) notes.push_back(cut_);
  if (!doubt_.empty()) notes.push_back(doubt_);
  return notes;
}

namespace {

constexpr std::string_view kBareNumber = "a number that JSON does not allow", kBareWord = "a word without quotes",
                           kBackslash = "a backslash in a string is not escaped",
                           kControl = "a raw control character in a string",
                           kBytes = "bytes in a string that are not UTF-8",
                           kQuote = "a quote in a string is not escaped";

// A block of a file that was never written, which may include the string's end.
constexpr std::string_view kHole("\0\0", 2);

// N/A or ncclFloat32 as the value of an argument.
bool is_bare_word(std::string_view word) {
  const auto is_part = [](char c) {
    return lower(c) != c || (c >= 'a' && c <= 'z') || is_digit(c) || c == '_' || c == '/' || c == '.';
  };
  return !is_digit(word.front()) && std::all_of(word.begin(), word.end(), is_part) && word != "true" &&
         word != "false" && word != "null";
}

// Returns the size of the UTF-8 character at the beginning of `text`; 0 if it is invalid.
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
    const bool is_no_number = small.find("inf") != small.npos || small.find("nan") != small.npos ||
                              small.find(".#") != small.npos || small.starts_with("0x");
    const bool is_bare = brackets_.size() > 1 && is_bare_word(word);
    if (is_no_number || is_bare) found(at_, is_no_number ? kBareNumber : kBareWord);
    mended_.text += is_no_number || is_bare ? '"' + word + '"' : word;
    at_ = end;
  }

  // Returns true if valid text after a string is at `at`.
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

  // Writers that escape no backslashes still write \" for a quote; a path may end in a backslash.
  std::size_t end_of_string() const {
    for (std::size_t at = at_ + 1; at < text_.size(); ++at) {
      const bool escaped = text_[at] == '\\';
      if (escaped) ++at;
      if (at >= text_.size() || text_[at] != '"') continue;
      if (is_key_ && !escaped) return at;  // keys do not contain quotes
      if (escaped ? !is_key_ && text_.substr(at + 1).starts_with(',') && follows_string(at + 1)
                  : follows_string(at + 1))
        return at;
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

  // Returns the number of bytes consumed.
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
  std::string brackets_;  // open ones
  bool is_key_ = false;   // the next string is a key
  MendedJson mended_;
};

}  // namespace

std::optional<MendedJson> mend_event(std::string_view event) { return EventMender(event).mend(); }

}  // namespace cli
