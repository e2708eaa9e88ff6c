#include "cli/formats/perfetto/json_members.h"

#include <charconv>

namespace cli::perfetto {

void JsonMembers::skip_blank() {
  while (at_ < end_ && (*at_ == ' ' || *at_ == ',' || *at_ == ':' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) {
    ++at_;
  }
}

bool JsonMembers::next(Member& member) {
  skip_blank();
  if (at_ == end_ || *at_ != '"') return false;
  const char* const key_end = behind_string(at_);
  if (key_end - at_ < 2) return false;
  const char* const begin = at_;
  member.key = {begin + 1, static_cast<std::size_t>(key_end - begin - 2)};
  at_ = key_end;
  skip_blank();
  if (at_ == end_) return false;
  const char* const value_end = behind_value(at_);
  member.value = {at_, static_cast<std::size_t>(value_end - at_)};
  member.spelled = {begin, static_cast<std::size_t>(value_end - begin)};
  at_ = value_end;
  return !member.value.empty();
}

bool JsonMembers::next_is(std::string_view spelled) { return begins_with(spelled) && pass(at_ + spelled.size()); }

bool JsonMembers::next_is(std::string_view head, std::uint64_t& number) {
  if (!begins_with(head)) return false;
  const auto [end, error] = std::from_chars(at_ + head.size(), end_, number);
  return error == std::errc() && pass(end);
}

bool JsonMembers::begins_with(std::string_view text) {
  skip_blank();
  return std::string_view(at_, static_cast<std::size_t>(end_ - at_)).substr(0, text.size()) == text;
}

bool JsonMembers::pass(const char* end) {
  if (end != end_ && *end != ',') return false;
  at_ = end;
  return true;
}

const char* JsonMembers::behind_value(const char* at) const {
  if (*at == '"') return behind_string(at);
  if (*at == '[' || *at == '{') return behind_nested(at);
  while (at < end_ && *at != ',' && *at != '}' && *at != ']' && static_cast<unsigned char>(*at) > ' ') ++at;
  return at;
}

const char* JsonMembers::behind_string(const char* at) const {
  for (++at; at < end_; ++at) {
    if (*at == '"') return at + 1;
    if (*at == '\\') ++at;
  }
  return end_;
}

const char* JsonMembers::behind_nested(const char* at) const {
  for (int depth = 0; at < end_;) {
    if (*at == '"') {
      at = behind_string(at);
      continue;
    }
    if (*at == '[' || *at == '{') ++depth;
    if (*at == ']' || *at == '}') --depth;
    ++at;
    if (depth == 0) break;
  }
  return at;
}

}  // namespace cli::perfetto
