// Strings, numbers and words of JSON as they stand in the text, so that a number is never rounded by a double.
#pragma once
#include <simdjson.h>

#include <string_view>

namespace cli {

struct JsonScalar {
  enum class Form : unsigned char { absent, string, number, word };  // word: true, false, null
  Form form = Form::absent;
  std::string_view text;  // of a string: between the quotes, still escaped

  bool is_string() const { return form == Form::string; }
  bool is_number() const { return form == Form::number; }
  bool empty() const { return form == Form::absent || (form == Form::word && text == "null"); }
};

// A string, number or word that is whole and valid. False for anything else.
bool read_scalar(simdjson::ondemand::value& value, JsonScalar& scalar);

// The key as it is spelled in the text, which ends at `end`.
std::string_view key_text(simdjson::ondemand::field& field, const char* end);

// Consumes a value of any form and checks all of it: simdjson itself does not look into what it passes over.
// `depth`: of brackets around it. Bytes that this accepts find_json_fault accepts.
bool check_value(simdjson::ondemand::value& value, int depth, const char* end);

}  // namespace cli
