#include "cli/trace/short_name.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace cli {

namespace {

constexpr int kLevels = 2;               // of template arguments that are shown
constexpr std::size_t kEnoughText = 96;  // arguments beyond it are omitted

// Reads a demangled name once, from left to right.
class Shortener {
 public:
  explicit Shortener(std::string_view text) : text_(text) {}

  std::string shorten() {
    entity(0);
    return sound_ ? std::move(out_) : std::string();
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }
  bool at_end() const { return at_ >= text_.size(); }
  bool take(std::string_view what) {
    if (!rest().starts_with(what)) return false;
    at_ += what.size();
    return true;
  }
  std::string_view take_word() {
    const std::size_t from = at_;
    while (!at_end() && is_word(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }

  // Parses a type, a value or the function itself, up to the end of its level.
  void entity(int level) {
    begin_ = last_ = out_.size();
    while (sound_ && !at_end()) {
      const char c = text_[at_];
      if (level > 0 && (c == ',' || c == '>')) return;
      if (c == '(' ? parentheses(level) : c == ' ' ? space(level) : part(level)) return;
    }
  }

  bool part(int level) {
    if (take("::")) {
      out_.resize(last_);
    } else if (text_[at_] == '<') {
      angles(level);
    } else if (text_[at_] == '{') {
      braces();
    } else if (is_word(text_[at_])) {
      word();
    } else {
      out_ += text_[at_++];
    }
    return false;
  }

  void word() {
    const std::string_view text = take_word();
    if (text == "const") return;
    out_ += text;
    if (text == "operator") operator_name();
  }

  void operator_name() {
    const std::string_view name = operator_at(rest());
    at_ += name.size();
    out_ += name;
    // As in "operator bool"
    if (name.empty() && take(" ")) {
      out_ += ' ';
      out_ += take_word();
    }
  }

  // Returns true if nothing of the name follows.
  bool parentheses(int level) {
    if (take("(anonymous namespace)")) return false;
    const bool cast = out_.size() == last_;
    skip('(', ')');
    if (cast) return false;
    if (rest().starts_with("::")) {  // the rest is local to a function, whose name is kept
      at_ += 2;
      out_ += "::";
      last_ = out_.size();
      return false;
    }
    if (level > 0) return false;
    return !discard_type();
  }

  bool space(int level) {
    if (rest().starts_with(" [")) {
      at_ = text_.size();
      return true;
    }
    if (level == 0 && !rest().starts_with(" (") && discard_type()) return false;
    ++at_;
    const bool spare = at_end() || text_[at_] == '>' || text_[at_] == ',' || out_.size() == begin_ ||
                       starts_with_word(rest(), "const") || rest().starts_with("(") || rest().starts_with("<");
    if (!spare) {
      out_ += ' ';
      last_ = out_.size();
    }
    return false;
  }

  // Discards the text read so far, which is the type of what follows, if a name follows.
  bool discard_type() {
    if (at_ + 1 >= text_.size() || text_[at_] != ' ') return false;
    const std::string_view next = text_.substr(at_ + 1);
    if (std::string_view(out_).substr(last_).starts_with("operator")) return false;
    if (!is_word(next[0]) && next[0] != '(' && next[0] != '<') return false;
    for (const std::string_view word : {"const", "volatile", "noexcept"}) {
      if (starts_with_word(next, word)) return false;
    }
    out_.resize(begin_);
    last_ = begin_;
    ++at_;
    return true;
  }

  void angles(int level) {
    ++at_;
    if (out_.size() == last_) return skip_angles();  // <unnamed>
    if (level == kLevels || out_.size() > kEnoughText) {
      out_ += "<...>";
      return skip_angles();
    }
    const std::size_t begin = begin_, last = last_;
    out_ += '<';
    arguments(level + 1);
    out_ += '>';
    begin_ = begin;
    last_ = last;
  }

  // Parses the arguments of a template and the closing bracket.
  void arguments(int level) {
    while (sound_) {
      entity(level);
      if (take(">")) return;
      if (!take(",")) break;
      out_ += ", ";
      if (out_.size() <= kEnoughText) continue;
      out_ += "...";
      return skip_angles();
    }
    sound_ = false;
  }

  // {lambda(int)#1}, {unnamed type#1}
  void braces() {
    const bool lambda = rest().starts_with("{lambda");
    const std::size_t from = at_;
    skip('{', '}');
    const std::string_view text = text_.substr(from, at_ - from);
    out_ += lambda ? "lambda" : "unnamed";
    const std::size_t number = text.rfind('#');
    if (number != text.npos && !text.ends_with("#1}")) out_ += text.substr(number, text.size() - 1 - number);
  }

  void skip(char open, char close) {
    std::size_t depth = 0;
    do {
      if (at_end()) {
        sound_ = false;
        return;
      }
      depth += text_[at_] == open;
      depth -= text_[at_] == close;
      ++at_;
    } while (depth > 0);
  }

  // Called after the opening bracket.
  void skip_angles() {
    for (std::size_t depth = 1; depth > 0;) {
      if (at_end() || !sound_) {
        sound_ = false;
        return;
      }
      if (text_[at_] == '(') {
        skip('(', ')');
      } else if (is_word(text_[at_])) {
        if (take_word() == "operator") at_ += operator_at(rest()).size();
      } else if (!take("->")) {
        depth += text_[at_] == '<';
        depth -= text_[at_] == '>';
        ++at_;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  std::size_t begin_ = 0;  // in out_: start of this entity
  std::size_t last_ = 0;   // in out_: start of the part after its last ::
  bool sound_ = true;
};

}  // namespace

std::string shorten_signature(std::string_view text) { return Shortener(text).shorten(); }

namespace {

// Maximum number of back references in a linker name. Each may repeat all the text before it, so this bounds the
// length.
constexpr std::ptrdiff_t kMostReferences = 40;

bool is_signature(std::string_view name) {
  return name.find('<') != name.npos || name.find("::") != name.npos || name.find('(') != name.npos;
}

// Returns the last plain part of a linker name that could not be demangled, or "".
std::string base_of_mangled(std::string_view name) {
  std::size_t at = name.starts_with("_ZN") ? 3 : 2;
  std::string_view base;
  while (at < name.size() && name[at] >= '1' && name[at] <= '9') {
    std::size_t length = 0;
    while (at < name.size() && name[at] >= '0' && name[at] <= '9' && length < name.size()) {
      length = length * 10 + static_cast<std::size_t>(name[at++] - '0');
    }
    if (length > name.size() - at) return {};
    base = name.substr(at, length);
    at += length;
  }
  if (base.empty()) return {};
  return std::string(base) + (at < name.size() && name[at] == 'I' ? "<...>" : "");
}

std::string cut(std::string text) {
  if (text.size() <= kLongestShortName) return text;
  std::size_t end = kLongestShortName - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace

std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z")) return {};
  const auto references = std::count(name.begin(), name.end(), 'S') + std::count(name.begin(), name.end(), 'T');
  if (references > kMostReferences) return {};
  int status = 0;
  char* plain = abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status);
  if (plain == nullptr) return {};
  std::string result = plain;
  std::free(plain);
  return result;
}

std::string short_name(std::string_view name) {
  std::string result;
  if (is_signature(name)) result = shorten_signature(name);
  if (result.empty() && name.starts_with("_Z")) result = base_of_mangled(name);
  return cut(result.empty() ? std::string(name.substr(0, kLongestShortName + 4)) : std::move(result));
}

ShortNames::Name ShortNames::operator[](StringId id) {
  if (id >= names_.size()) names_.resize(std::max<std::size_t>(strings_->size(), id + std::size_t{1}));
  Name& name = names_[id];
  if (name.shown.data() != nullptr) return name;
  const std::string_view given = (*strings_)[id];
  std::string plain = demangled(given);
  const std::string_view full = plain.empty() ? given : keep(std::move(plain));
  std::string shown = short_name(full);
  name = shown == full ? Name{full, {}} : Name{keep(std::move(shown)), full};
  if (name.shown.data() == nullptr) name.shown = "";
  return name;
}

namespace {

std::string_view text_of_module(const Catalog& catalog, const StackFrame& frame) {
  constexpr std::string_view kOfProfiler = "nn.Module: ";  // prefix of such frames in torch.profiler
  const std::string_view name = catalog.strings[frame.name];
  return name.substr(name.starts_with(kOfProfiler) ? kOfProfiler.size() : 0);
}

}  // namespace

std::string frame_text(const Catalog& catalog, const StackFrame& frame) {
  const std::string_view name = catalog.strings[frame.name], file = catalog.strings[frame.file];
  if (frame.what == StackFrame::kModule) {
    const std::string_view of_class = text_of_module(catalog, frame);
    return frame.path != 0 ? fmt::format("{} ({})", catalog.strings[frame.path], of_class) : std::string(of_class);
  }
  if (frame.what == StackFrame::kNative && frame.name == 0)
    return fmt::format("{}+{:#x}", file.substr(file.rfind('/') + 1), frame.instance);
  const bool is_placed = frame.file != 0 && (frame.what == StackFrame::kPython || frame.line != 0);
  return is_placed ? fmt::format("{}({}): {}", file, frame.line, name) : std::string(name);
}

std::string stack_text(const Catalog& catalog, StackId stack) {
  std::string text;
  for (; stack != 0; stack = catalog.stacks[stack].outer) {
    const StackFrame& frame = catalog.stacks[stack];
    if (frame.what != StackFrame::kModule) text += (text.empty() ? "" : ";") + frame_text(catalog, frame);
  }
  return text;
}

std::string module_text(const Catalog& catalog, StackId stack) {
  std::string text;
  for (; stack != 0; stack = catalog.stacks[stack].outer) {
    const StackFrame& frame = catalog.stacks[stack];
    if (frame.what != StackFrame::kModule) continue;
    if (frame.path != 0) return std::string(catalog.strings[frame.path]) + (text.empty() ? "" : "." + text);
    text = std::string(text_of_module(catalog, frame)) + (text.empty() ? "" : "." + text);
  }
  return text;
}

}  // namespace cli
