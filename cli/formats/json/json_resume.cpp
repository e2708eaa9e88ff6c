#include "cli/formats/json/json_resume.h"

#include <algorithm>

#include "cli/formats/json/json_context.h"

namespace cli {
namespace {

constexpr std::size_t kLookAhead = 1 << 10;  // that is enough for a key, or what is behind ']'

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
    if (hit == text.size() || (text[hit] == '{' ? begins_event(text, hit, gap) : ends_array(text, hit))) return window.skip(hit);
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

}  // namespace cli
