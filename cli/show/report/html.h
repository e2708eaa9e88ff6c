// Builds HTML and SVG by appending. Names in a trace are untrusted: all text except markup goes through text() or an
// attribute value, and is escaped there and only there.
#pragma once
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace cli::report {

// Escapes & < > " ' in `text`, after visible_text, for the text of an element or a quoted attribute value.
std::string html_text(std::string_view text);

// At most two decimals, without trailing zeros.
std::string coordinate(double value);

struct Attribute {
  Attribute(std::string_view name, std::string_view value) : name(name), value(value) {}
  Attribute(std::string_view name, const char* value) : name(name), value(value) {}
  Attribute(std::string_view name, std::string value) : name(name), value(std::move(value)) {}
  Attribute(std::string_view name, std::integral auto number) : name(name), value(std::to_string(number)) {}
  Attribute(std::string_view name, double number) : name(name), value(coordinate(number)) {}

  std::string_view name;
  std::string value;
};
using Attributes = std::initializer_list<Attribute>;

class Html {
 public:
  void open(std::string_view tag, Attributes attributes = {});
  void close(std::string_view tag) { out_.append("</").append(tag).append(">"); }
  void text(std::string_view text) { out_ += html_text(text); }
  // Writes an element that contains only text.
  void element(std::string_view tag, std::string_view text) { element(tag, {}, text); }
  void element(std::string_view tag, Attributes attributes, std::string_view text);
  // Writes an element without content: a void element of HTML, or any element of SVG.
  void empty(std::string_view tag, Attributes attributes = {});

  // Appends text that already is markup.
  void markup(std::string_view markup) { out_ += markup; }
  const std::string& all() const { return out_; }

 private:
  void begin(std::string_view tag, Attributes attributes);

  std::string out_;
};

// An element that ends with its scope.
class Element {
 public:
  Element(Html& page, std::string_view tag, Attributes attributes = {}) : page_(page), tag_(tag) {
    page.open(tag, attributes);
  }
  ~Element() { page_.close(tag_); }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;

 private:
  Html& page_;
  std::string_view tag_;
};

}  // namespace cli::report
