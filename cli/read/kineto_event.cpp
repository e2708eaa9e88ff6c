#include "cli/read/kineto_event.h"

#include <utility>

#include "cli/read/json_check.h"
#include "cli/read/window.h"

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
  if (key == "name") return &event.args_name;
  if (key.size() < 9) return nullptr;
  if (key == "Device Type") return &event.device_type;
  if (key == "Device Id") return &event.device_id;
  if (key == "Total Allocated") return &event.total_allocated;
  if (key == "wait_on_cuda_event_record_corr_id") return &event.wait_call;
  if (key == "wait_on_stream") return &event.wait_stream;
  if (key == "wait_on_cuda_event_id") return &event.wait_event;
  return key == "Total Reserved" ? &event.total_reserved : nullptr;
}

bool is_nested(od::value& value) {
  const std::string_view token = value.raw_json_token();
  return !token.empty() && (token[0] == '{' || token[0] == '[');
}

// Members that we know and that hold a string, number or word are kept; all others are only checked.
template <typename Named>
bool keep_or_check(KinetoEvent& event, std::string_view key, od::value& value, int depth, const char* end,
                   Named named) {
  if (key.find('\\') != std::string_view::npos) {
    return has_valid_escapes(key) && check_value(value, depth, end);
  }
  JsonScalar* wanted = named(event, key);
  if (wanted == &event.ph && !event.ph.empty()) return false;  // damage made one event of two
  return wanted != nullptr && !is_nested(value) ? read_scalar(value, *wanted) : check_value(value, depth, end);
}

std::string_view trimmed(const char* begin, const char* end) {
  const auto is_space = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (begin < end && is_space(*begin)) ++begin;
  while (begin < end && is_space(end[-1])) --end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

bool parse_args(KinetoEvent& event, od::document& document, od::value& value, const char* end) {
  const char* begin = value.raw_json_token().data();
  od::object object;
  if (value.get_object().get(object)) return false;
  for (auto result : object) {
    od::field field;
    if (std::move(result).get(field)) return false;
    od::value argument = field.value();
    if (!keep_or_check(event, key_text(field, end), argument, 2, end, argument_named)) return false;
  }
  const char* behind = nullptr;  // the token after the closing brace
  if (document.current_location().get(behind)) return false;
  const std::string_view whole = trimmed(begin, behind);
  if (whole.size() < 2 || whole.back() != '}') return false;
  event.args = trimmed(whole.data() + 1, whole.data() + whole.size() - 1);
  return event.has_args = true;
}

}  // namespace

bool KinetoEventParser::parse(std::string_view text, KinetoEvent& event) {
  event = {};
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
      if (!keep_or_check(event, key, value, 1, end, member_named)) return false;
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
