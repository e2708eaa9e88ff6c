#include "cli/read/json_resume.h"

#include <algorithm>
#include <array>
#include <string>

#include "cli/read/json_check.h"
#include "cli/read/kineto_event.h"

namespace cli {
namespace {

constexpr std::size_t kLookBehind = 128;  // bytes kept before a place, for what separates it
constexpr std::size_t kNear = 4 << 10;
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

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

std::size_t after_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

// The last character before `at` that is no space, within kLookBehind; '\0' when there is none.
char before(std::string_view text, std::size_t at) {
  const std::size_t stop = at > kLookBehind ? at - kLookBehind : 0;
  while (at > stop && is_space(text[at - 1])) --at;
  return at > stop ? text[at - 1] : '\0';
}

// The '{' at `at` is the value of a member or the first of an array.
bool is_inside(std::string_view text, std::size_t at) {
  const char last = before(text, at);
  return last == ':' || last == '[';
}

// `"key" :` at `at`: the key; "" for anything else.
std::string_view key_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '"') return {};
  const std::size_t quote = text.substr(0, std::min(text.size(), at + 2 + kLongestKey)).find('"', at + 1);
  if (quote == npos) return {};
  const std::size_t colon = after_space(text, quote + 1);
  const std::string_view key = text.substr(at + 1, quote - at - 1);
  const bool plain = std::all_of(key.begin(), key.end(), [](char c) { return c >= ' ' && c != '\\'; });
  return plain && colon < text.size() && text[colon] == ':' ? key : std::string_view{};
}

template <std::size_t N>
bool among(const std::array<std::string_view, N>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool has_phase_near(std::string_view event) {
  const std::string_view near = event.substr(0, kNear);
  for (std::size_t at = near.find("\"ph\""); at != npos; at = near.find("\"ph\"", at + 1)) {
    if (!key_at(near, at).empty()) return true;
  }
  return false;
}

bool is_line_break(std::string_view gap) { return gap.find('\n') != npos; }

// What stands at `at` is no event: garbage, an event without its '{', or the rest of the event before, of which a quote
// ended a string too early. That has a '}', or the '{' of its args, before the next event's '{'.
Follow follow_by_garbage(std::string_view text, std::size_t size, std::size_t at, std::string_view gap) {
  if (is_line_break(gap) && text.substr(size, at - size) == gap) return Follow::well;
  if (text[at] == '\0') return Follow::well;  // a hole
  const std::size_t first = after_space(text, 1), brace = text.substr(at, kNear).find_first_of("{}");
  const std::string_view key = key_at(text, first);
  const std::size_t again = key.empty() ? npos : text.substr(at, 32).find(text.substr(first, key.size() + 2));
  if (again < brace && !key_at(text, at + again).empty()) return Follow::well;  // events begin so
  if (brace == npos && text.size() - at < kNear) return Follow::unknown;
  return brace != npos && text[at + brace] == '{' && !is_inside(text, at + brace) ? Follow::well : Follow::badly;
}

bool begins_event(std::string_view text, std::size_t at, std::string_view gap, std::size_t look) {
  const std::string_view key = key_at(text, after_space(text, at + 1));
  if (key.empty()) return false;
  if (is_line_break(gap) && text.substr(0, at).ends_with(gap)) return true;
  if (is_inside(text, at)) return false;
  const std::string_view event = text.substr(at, look);
  const JsonExtent extent = find_json_extent(event);
  if (extent.fault) return before(text, at) == ',' && among(kEventKeys, key) && has_phase_near(event);
  return is_whole_event(event.substr(0, extent.size)) &&
         follow_of_event(text.substr(at), extent.size, gap) != Follow::badly;
}

bool ends_array(std::string_view text, std::size_t at) {
  const std::size_t next = after_space(text, at + 1);
  if (next < text.size() && text[next] == ',') return is_known_member(key_at(text, after_space(text, next + 1)));
  const bool closed = next < text.size() && text[next] == '}';
  return before(text, at) == '}' && after_space(text, next + (closed ? 1 : 0)) == text.size();
}

}  // namespace

bool is_whole_event(std::string_view text) {
  std::string padded(text);
  padded.append(Window::kPadding, '\0');
  KinetoEventParser parser;
  KinetoEvent event;
  return parser.parse({padded.data(), text.size()}, event) && event.ph.is_string() && event.ph.text.size() == 1;
}

bool is_known_member(std::string_view key) { return among(kMembers, key); }

Follow follow_of_array(std::string_view text) {
  std::size_t at = after_space(text, 1);
  if (at < text.size() && text[at] == '}') return Follow::well;
  if (at < text.size() && text[at] != ',') return Follow::badly;
  at = after_space(text, at + 1);
  if (at >= text.size()) return text.size() < kLookAhead ? Follow::unknown : Follow::well;
  return text[at] == '"' || text[at] == '}' ? Follow::well : Follow::badly;
}

Follow follow_of_lost_bracket(std::string_view text) {
  const std::string_view key = key_at(text, 0);
  if (!key.empty()) return among(kEventKeys, key) ? Follow::badly : Follow::well;
  if (text.empty() || text[0] != '}') return Follow::badly;
  if (after_space(text, 1) < text.size()) return Follow::badly;
  return text.size() < kLookAhead ? Follow::unknown : Follow::badly;
}

Follow follow_of_event(std::string_view text, std::size_t size, std::string_view gap) {
  std::size_t at = after_space(text, size);
  if (at < text.size() && text[at] == ']') return follow_of_array(text.substr(at));
  if (at < text.size() && text[at] == ',') at = after_space(text, at + 1);
  if (at == text.size()) return at - size < kLookAhead ? Follow::unknown : Follow::well;
  if (text[at] == '{' || text[at] == ']' || text[at] == ',') return Follow::well;
  const Follow follow = follow_of_lost_bracket(text.substr(at));
  return follow == Follow::badly ? follow_by_garbage(text, size, at, gap) : follow;
}

Resumed resume_events(Window& window, std::string_view gap, std::size_t look) {
  for (std::size_t at = 1;;) {
    const std::string_view text(window.begin(), window.size());
    const std::size_t hit = std::min(text.find_first_of("{]", at), text.size());
    const std::size_t passed = hit > kLookBehind ? hit - kLookBehind : 0;
    if (text.size() - hit < kLookAhead && !window.at_end()) {
      window.skip(passed);
      at = hit - passed;
      window.more();
      continue;
    }
    const bool event = hit < text.size() && text[hit] == '{' && begins_event(text, hit, gap, look);
    if (event || hit == text.size() || (text[hit] == ']' && ends_array(text, hit))) {
      window.skip(hit);
      return event ? Resumed::event : window.size() == 0 ? Resumed::end_of_text : Resumed::end_of_array;
    }
    at = hit + 1;
  }
}

std::size_t find_known_member(std::string_view text) {
  for (std::size_t at = text.find('"', 1); at != npos; at = text.find('"', at + 1)) {
    const std::string_view key = key_at(text, at);
    if (!is_known_member(key)) continue;
    const std::size_t value = after_space(text, text.find(':', at + key.size()) + 1);
    const bool events = key == "traceEvents" && value < text.size() && text[value] == '[';
    const char last = before(text, at);
    if (events || (key != "traceEvents" && (last == ',' || last == '}' || last == ']'))) return at;
  }
  return npos;
}

bool resume_members(Window& window) {
  for (;;) {
    const std::string_view text(window.begin(), window.size());
    const std::size_t found = find_known_member(text);
    if (found != npos && (text.size() - found > 2 * kLookBehind || window.at_end())) {
      window.skip(found);
      return true;
    }
    const std::size_t keep = 4 * kLookBehind;
    window.skip(found != npos ? 0 : text.size() > keep ? text.size() - keep : 0);
    if (window.at_end()) return window.skip(window.size()), false;
    window.more();
  }
}

}  // namespace cli
