#include "cli/formats/json/json_scalar.h"

#include <cstring>
#include <utility>

#include "cli/formats/json/json_check.h"
#include "cli/formats/json/json_split.h"

namespace cli {
namespace {

namespace od = simdjson::ondemand;

std::string_view without_trailing_space(std::string_view token) {
  const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!token.empty() && is_space(token.back())) token.remove_suffix(1);
  return token;
}

bool is_plain_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '0') return false;
  for (char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

bool escapes_are_valid(std::string_view text) {
  return std::memchr(text.data(), '\\', text.size()) == nullptr || has_valid_escapes(text);
}

bool check_object(od::object object, int depth, const char* end) {
  for (auto result : object) {
    od::field field;
    if (std::move(result).get(field)) return false;
    if (!escapes_are_valid(key_text(field, end))) return false;
    od::value value = field.value();
    if (!check_value(value, depth, end)) return false;
  }
  return true;
}

bool check_array(od::array array, int depth, const char* end) {
  for (auto result : array) {
    od::value value;
    if (std::move(result).get(value) || !check_value(value, depth, end)) return false;
  }
  return true;
}

}  // namespace

bool read_scalar(od::value& value, JsonScalar& scalar) {
  std::string_view token = without_trailing_space(value.raw_json_token());
  if (token.empty()) return false;
  if (token[0] == '"') {
    od::raw_json_string consumed;  // else simdjson passes over `"a":` as if it were a key
    if (token.size() < 2 || token.back() != '"' || value.get_raw_json_string().get(consumed)) return false;
    scalar = {JsonScalar::Form::string, token.substr(1, token.size() - 2)};
    return escapes_are_valid(scalar.text);
  }
  if (token[0] == '-' || (token[0] >= '0' && token[0] <= '9')) {
    scalar = {JsonScalar::Form::number, token};
    return is_plain_number(token) || is_json_number(token);
  }
  scalar = {JsonScalar::Form::word, token};
  return token == "true" || token == "false" || token == "null";
}

std::string_view key_text(od::field& field, const char* end) {
  const char* begin = field.key().raw();
  const char* close = begin;
  while (close < end && *close != '"' && *close != '\\') ++close;
  if (close < end && *close == '\\') close = find_quote(begin, end);
  return {begin, static_cast<std::size_t>((close == nullptr ? end : close) - begin)};
}

bool check_value(od::value& value, int depth, const char* end) {
  const std::string_view token = value.raw_json_token();
  const bool nests = !token.empty() && (token[0] == '{' || token[0] == '[');
  JsonScalar scalar;
  if (!nests) return read_scalar(value, scalar);
  if (depth >= kMaxJsonDepth) return false;
  if (token[0] == '[') {
    od::array array;
    return !value.get_array().get(array) && check_array(array, depth + 1, end);
  }
  od::object object;
  return !value.get_object().get(object) && check_object(object, depth + 1, end);
}

}  // namespace cli
