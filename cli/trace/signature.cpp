#include "cli/trace/signature.h"

#include <cstddef>

#include "cli/trace/cpp_words.h"

namespace cli {
namespace {

constexpr int kLevels = 2;               // of template arguments that are shown
constexpr std::size_t kEnoughText = 96;  // after which no further argument is

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

  // A type, a value or the function itself, up to what ends it at its level.
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
    // operator bool
    if (name.empty() && take(" ")) {
      out_ += ' ';
      out_ += take_word();
    }
  }

  // True: nothing of the name follows.
  bool parentheses(int level) {
    if (take("(anonymous namespace)")) return false;
    const bool cast = out_.size() == last_;
    skip('(', ')');
    if (cast) return false;
    if (rest().starts_with("::")) {  // what follows is local to a function: that one's name stays
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

  // What was read is the type of what follows, if a name follows.
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

  // Those of a template, and the bracket behind them.
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

  // Behind the first bracket.
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
  std::size_t begin_ = 0;  // in out_: of this entity
  std::size_t last_ = 0;   // ... of the part behind its last ::
  bool sound_ = true;
};

}  // namespace

std::string shorten_signature(std::string_view text) { return Shortener(text).shorten(); }

}  // namespace cli
