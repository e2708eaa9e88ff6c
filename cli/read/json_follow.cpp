#include "cli/read/json_follow.h"

#include <string>

#include "cli/read/json_check.h"
#include "cli/read/json_context.h"
#include "cli/read/kineto_event.h"
#include "cli/read/window.h"

namespace cli {
namespace {

constexpr std::size_t kNear = 4 << 10;

bool is_line_break(std::string_view gap) { return gap.find('\n') != gap.npos; }

// Two events, of which the second has lost its '{', or there is garbage in its place. Of one with a '}' too many, only
// one half has the phase.
Follow follow_by_members(std::string_view event, std::string_view rest, JsonEffort& effort) {
  const std::size_t quote = rest.substr(0, kNear).find_first_of("\"{}");
  if (quote == rest.npos || !is_event_key(key_at(rest, quote)) || effort.is_spent()) return Follow::badly;
  const std::string_view members = rest.substr(quote, kLookAhead);
  const JsonExtent extent = find_members_extent(members);
  effort.spend(extent.size + event.size());
  if (extent.size == members.size() && members.size() < kLookAhead) return Follow::unknown;
  if (extent.fault || !is_whole_event("{" + std::string(members.substr(0, extent.size)))) return Follow::badly;
  return is_whole_event(event) ? Follow::well : Follow::badly;
}

// What stands at `at` is no event: garbage, an event without its '{', or the rest of the event before, of which a quote
// ended a string too early. That has a '}', or the '{' of its args, before the next event's '{'.
Follow follow_by_garbage(std::string_view text, std::size_t size, std::size_t at, std::string_view gap,
                         JsonEffort& effort) {
  if (is_line_break(gap) && text.substr(size, at - size) == gap) return Follow::well;
  if (text[at] == '\0') return Follow::well;  // a hole
  const Follow members = follow_by_members(text.substr(0, size), text.substr(at), effort);
  if (members != Follow::badly) return members;
  const std::size_t first = after_space(text, 1), brace = text.substr(at, kNear).find_first_of("{}");
  const std::string_view key = key_at(text, first);
  const std::size_t again = key.empty() ? text.npos : text.substr(at, 32).find(text.substr(first, key.size() + 2));
  if (again < brace && !key_at(text, at + again).empty()) return Follow::well;  // events begin so
  if (brace == text.npos && text.size() - at < kNear) return Follow::unknown;
  return brace != text.npos && text[at + brace] == '{' && !is_inside(text, at + brace) ? Follow::well : Follow::badly;
}

}  // namespace

bool is_whole_event(std::string_view text) {
  std::string padded(text);
  padded.append(Window::kPadding, '\0');
  thread_local KinetoEventParser parser;  // to make one takes longer than to use it
  KinetoEvent event;
  return parser.parse({padded.data(), text.size()}, event) && event.ph.is_string() && event.ph.text.size() == 1;
}

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
  if (!key.empty()) return is_event_key(key) ? Follow::badly : Follow::well;
  if (text.empty() || text[0] != '}') return Follow::badly;
  if (after_space(text, 1) < text.size()) return Follow::badly;
  return text.size() < kLookAhead ? Follow::unknown : Follow::badly;
}

Follow follow_of_event(std::string_view text, std::size_t size, std::string_view gap, JsonEffort& effort) {
  std::size_t at = after_space(text, size);
  if (at < text.size() && text[at] == ']') return follow_of_array(text.substr(at));
  if (at < text.size() && text[at] == ',') at = after_space(text, at + 1);
  if (at == text.size()) return at - size < kLookAhead ? Follow::unknown : Follow::well;
  if (text[at] == '{' || text[at] == ']' || text[at] == ',') return Follow::well;
  const Follow follow = follow_of_lost_bracket(text.substr(at));
  return follow == Follow::badly ? follow_by_garbage(text, size, at, gap, effort) : follow;
}

}  // namespace cli
