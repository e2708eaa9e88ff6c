#include "cli/show/report/html.h"

#include <algorithm>

#include "cli/base/text.h"

namespace cli::report {
namespace {

constexpr std::pair<char, std::string_view> kReferences[] = {
    {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : visible_text(text)) {
    const auto escaped = std::ranges::find(kReferences, c, &std::pair<char, std::string_view>::first);
    escaped == std::end(kReferences) ? out += c : out += escaped->second;
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
  out_.append("<").append(tag);
  for (const Attribute& each : attributes)
    out_.append(" ").append(each.name).append("=\"").append(html_text(each.value)).append("\"");
}

void Html::open(std::string_view tag, Attributes attributes) {
  begin(tag, attributes);
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
