#include "cli/formats/kineto/kineto_header.h"

#include <algorithm>
#include <utility>

#include "cli/formats/json/decimal.h"
#include "cli/formats/json/json_context.h"
#include "cli/formats/json/json_scalar.h"
#include "cli/formats/json/json_unescape.h"
#include "cli/formats/kineto/kineto_event.h"

namespace cli {
namespace {

namespace od = simdjson::ondemand;

// Visits the members of an object that are strings, numbers or words.
template <typename Visit>
void for_each_scalar(od::object object, const char* end, Visit visit) {
  for (auto result : object) {
    od::field field;
    if (std::move(result).get(field)) return;
    const std::string_view key = key_text(field, end);
    od::value value = field.value();
    JsonScalar scalar;
    if (read_scalar(value, scalar)) visit(key, scalar);
  }
}

std::string unescaped(const JsonScalar& scalar) {
  std::string scratch;
  return std::string(unescape_json(scalar.text, scratch));
}

std::optional<std::int64_t> integer_in(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
  return to_int64(text);
}

void take_distributed(KinetoHeader& header, std::string_view text) {
  const simdjson::padded_string padded(text);
  od::parser parser;
  od::document document;
  od::object object;
  if (parser.iterate(padded).get(document) || document.get_object().get(object)) return;
  for_each_scalar(object, padded.data() + padded.size(), [&](std::string_view key, const JsonScalar& scalar) {
    if (key == "rank") {
      const std::int64_t rank = to_int64(scalar.text).value_or(-1);
      header.ranks_differ |= header.rank >= 0 && rank != header.rank;
      header.rank = rank;
    }
    if (key == "world_size") header.world_size = to_int64(scalar.text).value_or(-1);
  });
}

// `"rank": 3`, as HTA finds it.
bool take_damaged_rank(KinetoHeader& header, std::string_view text) {
  constexpr std::string_view key = "\"rank\":";
  const std::size_t at = text.find(key);
  if (at == text.npos || header.rank >= 0) return false;
  text.remove_prefix(at + key.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \""), text.size()));
  header.rank = to_int64(text.substr(0, text.find_first_not_of("0123456789"))).value_or(-1);
  return header.rank >= 0;
}

void take_device(KinetoHeader& header, od::object object, const char* end) {
  std::optional<std::int64_t> id;
  std::string name;
  for_each_scalar(object, end, [&](std::string_view key, const JsonScalar& scalar) {
    if (key == "id") id = to_int64(scalar.text);
    if (key == "name") name = unescaped(scalar);
  });
  if (id) header.device_names[*id] = name;
}

void take_devices(KinetoHeader& header, std::string_view text) {
  const simdjson::padded_string padded(text);
  od::parser parser;
  od::document document;
  od::array array;
  if (parser.iterate(padded).get(document) || document.get_array().get(array)) return;
  for (auto result : array) {
    od::object object;
    if (std::move(result).get_object().get(object)) return;
    take_device(header, object, padded.data() + padded.size());
  }
}

}  // namespace

void KinetoHeader::take(JsonStream& stream, std::string_view key) {
  const JsonValue value = stream.value();
  known_member_ |= is_known_member(key);
  if (value.form == JsonValue::Form::large) {
    left_out.emplace_back(key);
    return;
  }
  const bool good = value.form == JsonValue::Form::good;
  if (!use(key, value.text, good))
    stream.damage().lose_member(key, stream.text_offset(), "an integer number of nanoseconds");
  if (good && key != "baseTimeNanoseconds") keep(key, value.text);
}

// Of what is damaged only the rank is taken, wherever it stands: without it the ranks of a run cannot be told apart.
bool KinetoHeader::use(std::string_view key, std::string_view text, bool good) {
  if (key == "distributedInfo") {
    take_distributed(*this, text);
    if (!good) take_damaged_rank(*this, text);
    return true;
  }
  if (!good) return true;
  if (key == "baseTimeNanoseconds") return (base_ns = integer_in(text)).has_value();
  if (key == "deviceProperties") take_devices(*this, text);
  if (key == "host_name" && text.starts_with('"')) {
    host = unescaped({JsonScalar::Form::string, text.substr(1, text.size() - 2)});
  }
  return true;
}

void KinetoHeader::keep(std::string_view key, std::string_view text) {
  if (members.size() + key.size() + text.size() > kMaxHeaderBytes) {
    left_out.emplace_back(key);
    return;
  }
  members.append(members.empty() ? "\"" : ", \"").append(key).append("\": ").append(text);
}

namespace {

// `check_events`: else events are passed by their brackets, which is enough where nothing is damaged. Returns whether
// nothing was seen to be.
bool scan(const std::string& path, bool check_events, KinetoHeader& header) {
  JsonStream stream(open_byte_source(path), path, JsonStream::kWindow);
  KinetoEventParser parser;
  KinetoEvent event;
  std::string key;
  std::string_view text;
  if (stream.open() == '[') return true;
  while (stream.next_member(key)) {
    if (key != "traceEvents") {
      header.take(stream, key);
      continue;
    }
    stream.enter_array();
    while (stream.next_element(text)) {
      if (check_events && !parser.parse(text, event)) stream.refuse(0, "an event");
    }
  }
  return stream.damage().none();
}

}  // namespace

KinetoHeader scan_kineto_header(const std::string& path) {
  KinetoHeader header;
  if (scan(path, false, header)) return header;
  header = {};
  scan(path, true, header);
  return header;
}

}  // namespace cli
