#include "cli/show/report/html.h"

#include <fmt/format.h>

#include "cli/base/text.h"

namespace cli::report {
namespace {

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

}  // namespace

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

}  // namespace cli::report
