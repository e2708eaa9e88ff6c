// Rules that tell what kernels are by their names: a text of lines, of which the first that matches counts.
//
//   # a comment; empty lines are skipped
//   CLASS  PATTERN
//
// CLASS is a word of letters, digits and `_`. PATTERN is the rest of the line: it has to match the whole name, in which `*`
// stands for any characters, none too, and {a,b} for a or b (not within each other). Letters match in either case.
// The name is matched as matched_name() makes it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// Demangled, in lower case, without "void " before it and without nameless namespaces, wherever they stand:
//   void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>(float*)   at::native::catarraybatchedcopy<float>(float*)
std::string matched_name(std::string_view kernel);

// The class of communication. The user's rules of this class count for all tables (work_classes.h).
inline constexpr std::string_view kCommunicationClass = "communication";

class NameRules {
 public:
  NameRules() = default;
  // Throws Error (bad_content) with `source`, the line and what was expected there.
  NameRules(std::string_view text, std::string_view source);

  struct Rule {
    std::string class_name;
    std::vector<std::string> patterns;  // its braces written out
    std::size_t line = 0;               // from 1
  };
  // Null: none matches. `name` is from matched_name().
  const Rule* of(std::string_view name) const;
  const std::vector<Rule>& rules() const { return rules_; }
  bool has_class(std::string_view name) const;

 private:
  std::vector<Rule> rules_;
};

// What comes with tracetool (kernel_rules.cpp).
const NameRules& kernel_rules();
// The four classes of KempnerForge's profiler, by its substrings; matches every name.
const NameRules& kempnerforge_rules();

// Those of `kempnerforge`, or of the file at this path. Throws Error.
NameRules read_name_rules(const std::string& name);

}  // namespace cli
