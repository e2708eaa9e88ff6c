#include "cli/formats/kineto/kineto_event.h"

#include <utility>

#include "cli/formats/json/json_check.h"
#include "cli/formats/json/byte_source.h"

namespace cli {
namespace {

namespace od = simdjson::ondemand;

JsonScalar* member_named(KinetoEvent& event, std::string_view key) {
  if (key == "ph") return &event.ph;
  if (key == "cat") return &event.cat;
  if (key == "name") return &event.name;
  if (key == "ts") return &event.ts;
  if (key == "dur") return &event.dur;
  if (key == "pid") return &event.pid;
  if (key == "tid") return &event.tid;
  if (key == "id") return &event.id;
  if (key == "s") return &event.scope;
  return key == "bp" ? &event.binding : nullptr;
}

JsonScalar* argument_named(KinetoEvent& event, std::string_view key) {
  if (key == "correlation") return &event.correlation;
  if (key == "bytes") return &event.bytes;
  if (key == "device") return &event.device;
  if (key == "memory bandwidth (GB/s)") return &event.bandwidth;
  return key == "name" ? &event.args_name : nullptr;
}

bool is_nested(od::value& value) {
  const std::string_view token = value.raw_json_token();
  return !token.empty() && (token[0] == '{' || token[0] == '[');
}

bool is_sound_key(std::string_view key) { return key.find('\\') == key.npos || has_valid_escapes(key); }

// Members that we know and that hold a string, number or word are kept; all others are only checked.
bool keep_member(KinetoEvent& event, std::string_view key, od::value& value, const char* end) {
  JsonScalar* const wanted = member_named(event, key);
  if (wanted == &event.ph && !event.ph.empty()) return false;  // damage made one event of two
  if (wanted != nullptr && !is_nested(value)) return read_scalar(value, *wanted);
  return is_sound_key(key) && check_value(value, 1, end);
}

std::string_view trimmed(const char* begin, const char* end) {
  const auto is_space = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (begin < end && is_space(*begin)) ++begin;
  while (begin < end && is_space(end[-1])) --end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

bool keep_argument(KinetoEvent& event, std::string_view key, od::value& value, const char* begin, const char* end) {
  if (is_nested(value)) return is_sound_key(key) && check_value(value, 2, end);
  JsonScalar scalar;
  if (!is_sound_key(key) || !read_scalar(value, scalar)) return false;
  if (JsonScalar* const wanted = argument_named(event, key)) *wanted = scalar;
  std::int64_t integer = 0;
  if (!scalar.is_number() || !read_plain_integer(scalar.text, integer)) return true;
  event.integers.push_back({static_cast<std::uint32_t>(scalar.text.data() - begin),
                            static_cast<std::uint32_t>(scalar.text.size()), integer});
  return true;
}

bool parse_args(KinetoEvent& event, od::document& document, od::value& value, const char* end) {
  const char* begin = value.raw_json_token().data();
  event.integers.clear();
  od::object object;
  if (value.get_object().get(object)) return false;
  for (auto result : object) {
    od::field field;
    if (std::move(result).get(field)) return false;
    od::value argument = field.value();
    if (!keep_argument(event, key_text(field, end), argument, begin, end)) return false;
  }
  const char* behind = nullptr;  // the token after the closing brace
  if (document.current_location().get(behind)) return false;
  const std::string_view whole = trimmed(begin, behind);
  if (whole.size() < 2 || whole.back() != '}') return false;
  event.args = trimmed(whole.data() + 1, whole.data() + whole.size() - 1);
  const auto shift = static_cast<std::uint32_t>(event.args.data() - begin);
  for (PlainInteger& integer : event.integers) integer.at -= shift;
  return event.has_args = true;
}

}  // namespace

bool KinetoEventParser::parse(std::string_view text, KinetoEvent& event) {
  std::vector<PlainInteger> memory = std::move(event.integers);
  memory.clear();
  event = {};
  event.integers = std::move(memory);
  event.text = text;
  const char* end = text.data() + text.size();
  od::document document;
  od::object object;
  if (parser_.iterate(text.data(), text.size(), text.size() + Window::kPadding).get(document)) return false;
  if (document.get_object().get(object)) return false;
  for (auto result : object) {
    od::field field;
    if (std::move(result).get(field)) return false;
    const std::string_view key = key_text(field, end);
    od::value value = field.value();
    if (key != "args") {
      if (!keep_member(event, key, value, end)) return false;
    } else if (value.raw_json_token().starts_with('{')) {
      if (!parse_args(event, document, value, end)) return false;
    } else {
      event.odd_args |= value.raw_json_token().substr(0, 4) != "null";
      if (!check_value(value, 1, end)) return false;
    }
  }
  const char* rest = nullptr;  // nothing may follow; simdjson would not mind
  return document.current_location().get(rest) == simdjson::OUT_OF_BOUNDS;
}

}  // namespace cli
