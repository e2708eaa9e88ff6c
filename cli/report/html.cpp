#include "cli/report/html.h"

#include <fmt/format.h>

#include "cli/io/json_text.h"

namespace cli {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::string_view reference(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
}

// Bytes of a character that is shown as another one than it is: U+0080 to U+009F, which HTML does not have, and marks, embeddings,
// overrides and isolates of direction (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), behind which a name reads as another one.
std::size_t misleading(std::string_view text) {
  if (text.size() >= 2 && text[0] == '\xC2') return static_cast<unsigned char>(text[1]) < 0xA0 ? 2 : 0;
  if (text.starts_with("\xD8\x9C")) return 2;
  if (text.size() < 3 || text[0] != '\xE2') return 0;
  const auto second = static_cast<unsigned char>(text[1]), third = static_cast<unsigned char>(text[2]);
  const bool turns = (second == 0x80 && (third == 0x8E || third == 0x8F || (third >= 0xAA && third <= 0xAE))) ||
                     (second == 0x81 && third >= 0xA6 && third <= 0xA9);
  return turns ? 3 : 0;
}

}  // namespace

std::string visible_text(std::string_view text) {
  std::string scratch, out;
  const std::string_view valid = valid_utf8(text, scratch);
  out.reserve(valid.size());
  for (std::size_t at = 0; at < valid.size(); ++at) {
    if (const std::size_t bytes = misleading(valid.substr(at)); bytes > 0) {
      out += kReplacement;
      at += bytes - 1;
    } else if (is_control(valid[at])) {
      out += kReplacement;
    } else {
      out += valid[at];
    }
  }
  return out;
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : visible_text(text)) {
    const std::string_view escaped = reference(c);
    escaped.empty() ? out += c : out += escaped;
  }
  return out;
}

std::string coordinate(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

void Html::begin(std::string_view tag, Attributes attributes) {
  out_ += '<';
  out_ += tag;
  for (const Attribute& each : attributes) {
    out_ += ' ';
    out_ += each.name;
    out_ += "=\"";
    out_ += html_text(each.value);
    out_ += '"';
  }
}

void Html::open(std::string_view tag, Attributes attributes) {
  begin(tag, attributes);
  out_ += '>';
}

void Html::close(std::string_view tag) {
  out_ += "</";
  out_ += tag;
  out_ += '>';
}

void Html::element(std::string_view tag, Attributes attributes, std::string_view content) {
  open(tag, attributes);
  text(content);
  close(tag);
}

void Html::empty(std::string_view tag, Attributes attributes) {
  begin(tag, attributes);
  out_ += "/>";
}

}  // namespace cli
