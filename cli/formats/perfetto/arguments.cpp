#include "cli/formats/perfetto/arguments.h"

#include <simdjson.h>

#include <charconv>
#include <protozero/varint.hpp>

#include "cli/base/json_text.h"
#include "cli/formats/json/json_values.h"

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

namespace {

constexpr std::size_t kLongestInterned = 1 << 12;  // longer values rarely repeat

template <typename Number>
bool whole(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

void Arguments::members(SaidArgs fragment, Kind kind, Sequence& sequence, Buffer& out) {
  if (fragment.id == 0) return each_member(fragment, kind, sequence, out);
  if (fragment.id >= fragments_.size()) fragments_.resize(fragment.id + std::size_t{1});
  std::string& made = fragments_[fragment.id];
  // Everything is defined there
  if (!sequence.fragments.insert(fragment.id)) return out.append(made.data(), made.size());
  const std::size_t begin = out.size();
  each_member(fragment, kind, sequence, out);
  if (made.empty()) made = out.view().substr(begin);
}

void Arguments::each_member(std::string_view fragment, Kind kind, Sequence& sequence, Buffer& out) {
  JsonMembers members(fragment);
  for (std::uint32_t last = 1 + static_cast<std::uint32_t>(kind), now = 0;; last = now) {
    now = known_[last].next;
    if (expected(now, members, sequence, out)) continue;
    Member next;
    if (!members.next(next)) return;
    now = member(next, sequence, out);
    known_[last].next = now;
  }
}

bool Arguments::expected(std::uint32_t place, JsonMembers& members, Sequence& sequence, Buffer& out) {
  if (place == 0) return false;
  const Known& known = known_[place];
  std::uint64_t number = 0;
  if (known.natural ? !members.next_is(known.spelled, number) : !members.next_is(known.spelled)) return false;
  repeat(place, number, sequence, out);
  return true;
}

std::uint32_t Arguments::member(const Member& member, Sequence& sequence, Buffer& out) {
  std::uint64_t number = 0;
  const bool natural = whole(member.value, number);
  const std::size_t head = member.spelled.size() - member.value.size();
  const std::string_view spelled = natural ? member.spelled.substr(0, head) : member.spelled;
  const std::uint32_t id = spelled.size() <= kLongestInterned ? members_.id(spelled) : 0;
  const std::uint32_t place = id == 0 ? 0 : kKindsOfFragments + id;
  if (place != 0 && place < known_.size()) {
    repeat(place, number, sequence, out);
  } else {
    encode(member, natural ? &number : nullptr, id, sequence, out);
  }
  return place;
}

void Arguments::encode(const Member& member, const std::uint64_t* number, std::uint32_t id, Sequence& sequence,
                       Buffer& out) {
  open(unescape_json(member.key, scratch_), sequence);
  if (number == nullptr) value(member.value, sequence);
  if (number != nullptr) protozero::add_varint_to_buffer(&argument_, schema_.unsigned_number << 3);
  if (id != 0) {
    known_.push_back({members_.text(id), std::string(argument_.view()), number != nullptr, key_, value_});
  }
  if (number != nullptr) protozero::add_varint_to_buffer(&argument_, *number);
  close(out);
}

void Arguments::repeat(std::uint32_t place, std::uint64_t number, Sequence& sequence, Buffer& out) {
  const Known& known = known_[place];
  if (sequence.members.insert(place)) {
    define_key(known.key, sequence);
    define_value(known.value, sequence);
  }
  const std::size_t length = known.bytes.size() + (known.natural ? protozero::length_of_varint(number) : 0);
  protozero::add_varint_to_buffer(&out, schema_.argument << 3 | 2);
  protozero::add_varint_to_buffer(&out, length);
  out.append(known.bytes.data(), known.bytes.size());
  if (known.natural) protozero::add_varint_to_buffer(&out, number);
}

void Arguments::number(std::string_view key, std::uint64_t value, Sequence& sequence, Buffer& out) {
  if (key.data() != number_key_.data()) {
    number_key_ = key;
    number_id_ = keys_.id(key);
  }
  open(key, number_id_, sequence);
  Writer(argument_).add_uint64(schema_.unsigned_number, value);
  close(out);
}

void Arguments::flag(std::string_view key, Sequence& sequence, Buffer& out) {
  open(key, sequence);
  Writer(argument_).add_bool(schema_.boolean, true);
  close(out);
}

void Arguments::text(std::string_view key, std::string_view value, Sequence& sequence, Buffer& out) {
  open(key, sequence);
  interned(value, sequence);
  close(out);
}

void Arguments::value(std::string_view value, Sequence& sequence) {
  std::int64_t integer = 0;
  Writer out(argument_);
  if (value[0] == '"') return string(value, sequence);
  if (value[0] == '[' || value[0] == '{') return interned(on_one_line(value), sequence);
  if (value == "null") return interned(value, sequence);
  if (value == "true" || value == "false") return out.add_bool(schema_.boolean, value == "true");
  if (whole(value, integer)) return out.add_int64(schema_.number, integer);
  real(value, sequence);
}

// A number with a fraction. If it does not fit a double, its spelling is kept.
void Arguments::real(std::string_view value, Sequence& sequence) {
  double number = 0;
  if (!whole(value, number)) return interned(value, sequence);
  Writer(argument_).add_double(schema_.real, number);
}

std::string_view Arguments::on_one_line(std::string_view json) {
  if (json.find('\n') == json.npos) return json;
  scratch_.resize(json.size());
  std::size_t length = 0;
  if (simdjson::minify(json.data(), json.size(), scratch_.data(), length) != simdjson::SUCCESS) return json;
  return std::string_view(scratch_).substr(0, length);
}

void Arguments::string(std::string_view spelled, Sequence& sequence) {
  interned(unescape_json(spelled.substr(1, spelled.size() - 2), scratch_), sequence);
}

void Arguments::interned(std::string_view text, Sequence& sequence) {
  const std::uint32_t id = text.size() <= kLongestInterned ? values_.id(text) : 0;
  Writer out(argument_);
  if (id == 0) {
    const std::string_view valid = valid_utf8(text, valid_);
    return out.add_string(schema_.text, valid.data(), valid.size());
  }
  out.add_uint64(schema_.text_iid, id);
  define_value(value_ = id, sequence);
}

void Arguments::open(std::string_view key, std::uint32_t id, Sequence& sequence) {
  argument_.clear();
  value_ = 0;
  key_ = id;
  if (key_ != 0) {
    Writer(argument_).add_uint64(schema_.key_iid, key_);
    return define_key(key_, sequence);
  }
  const std::string_view valid = valid_utf8(key, valid_);
  Writer(argument_).add_string(schema_.key_text, valid.data(), valid.size());
}

void Arguments::close(Buffer& out) {
  Writer(out).add_message(schema_.argument, argument_.view().data(), argument_.size());
}

void Arguments::define_key(std::uint32_t id, Sequence& sequence) {
  if (id == 0 || !sequence.keys.insert(id)) return;
  packets_.define(schema_.keys, id, valid_utf8(keys_.text(id), valid_));
}

void Arguments::define_value(std::uint32_t id, Sequence& sequence) {
  if (id == 0 || !sequence.values.insert(id)) return;
  packets_.define(interned::string_values, id, valid_utf8(values_.text(id), valid_));
}

void add_arguments(const Event& event, SaidArgs fragment, std::string_view full_name, Arguments& arguments,
                   Sequence& sequence, Buffer& out) {
  if (!full_name.empty()) arguments.text("full name", full_name, sequence, out);
  if (!fragment.text.empty()) arguments.members(fragment, event.kind, sequence, out);
  if (event.correlation != 0 && !event.json.args_complete) {
    arguments.number("correlation", event.correlation, sequence, out);
  }
  if (event.has_bytes && !event.json.args_complete) arguments.number("bytes", event.bytes, sequence, out);
  if (event.phase == 'X' && event.duration_ns < 0) arguments.flag("unfinished", sequence, out);
  if (event.open_start) arguments.flag("open_start", sequence, out);
}

}  // namespace cli::perfetto
