// Rules that classify kernels by name: lines of text, of which the first match counts.
//
//   # a comment; empty lines are skipped
//   CLASS  PATTERN
//
// CLASS is a word of letters, digits and `_`. PATTERN is the rest of the line. It has to match the whole name. `*`
// matches any characters or none, and {a,b} matches a or b (it cannot be nested). Case is ignored. The name is
// normalized by matched_name().
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// Returns the name demangled, in lower case, without leading "void " and without anonymous namespaces anywhere:
//   void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>(float*)   at::native::catarraybatchedcopy<float>(float*)
std::string matched_name(std::string_view kernel);

// The class of communication. The user's rules for it apply to all tables (work_classes.h).
inline constexpr std::string_view kCommunicationClass = "communication";

class NameRules {
 public:
  NameRules() = default;
  // Throws Error (bad_content) with `source`, the line and what was expected there.
  NameRules(std::string_view text, std::string_view source);

  struct Rule {
    std::string class_name;
    std::vector<std::string> patterns;  // with braces expanded
    std::size_t line = 0;               // from 1
  };
  // Returns null if no rule matches. `name` is from matched_name().
  const Rule* of(std::string_view name) const;
  const std::vector<Rule>& rules() const { return rules_; }
  bool has_class(std::string_view name) const;

 private:
  std::vector<Rule> rules_;
};

// Returns the built-in rules (kernel_rules.cpp).
const NameRules& kernel_rules();
// Returns the four classes of KempnerForge's profiler, by its substrings; they match every name.
const NameRules& kempnerforge_rules();

// Returns the rules named `kempnerforge`, or those of the file at this path. Throws Error.
NameRules read_name_rules(const std::string& name);

}  // namespace cli
