#include "cli/read/kineto_header.h"

#include <utility>

#include "cli/read/decimal.h"
#include "cli/read/json_scalar.h"
#include "cli/read/json_unescape.h"

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
    if (key == "rank") header.rank = to_int64(scalar.text).value_or(-1);
    if (key == "world_size") header.world_size = to_int64(scalar.text).value_or(-1);
  });
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
  if (stream.next_is_long_string(kMaxHeaderBytes)) {
    left_out.emplace_back(key);
    return stream.skip_value();
  }
  const std::string_view text = stream.value();
  use(stream, key, text);
  if (key != "baseTimeNanoseconds") keep(key, text);
}

void KinetoHeader::use(JsonStream& stream, std::string_view key, std::string_view text) {
  if (key == "baseTimeNanoseconds") {
    base_ns = integer_in(text);
    if (!base_ns) stream.fail(stream.text_offset(), "an integer number of nanoseconds");
  } else if (key == "distributedInfo") {
    take_distributed(*this, text);
  } else if (key == "deviceProperties") {
    take_devices(*this, text);
  } else if (key == "host_name" && text.starts_with('"')) {
    host = unescaped({JsonScalar::Form::string, text.substr(1, text.size() - 2)});
  }
}

void KinetoHeader::keep(std::string_view key, std::string_view text) {
  if (members.size() + key.size() + text.size() > kMaxHeaderBytes) return left_out.emplace_back(key), void();
  members.append(members.empty() ? "\"" : ", \"").append(key).append("\": ").append(text);
}

KinetoHeader scan_kineto_header(const std::string& path) {
  KinetoHeader header;
  JsonStream stream(open_byte_source(path), path, JsonStream::kWindow);
  std::string key;
  std::string_view event;
  if (stream.open() == '[') return header;
  while (stream.next_member(key)) {
    if (key != "traceEvents") {
      header.take(stream, key);
      continue;
    }
    stream.enter_array();
    while (stream.next_element(event)) continue;
  }
  return header;
}

}  // namespace cli
