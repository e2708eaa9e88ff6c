// Short names of kernels and stacks for exports. A C++ signature consists mostly of namespaces, types and parameters,
// so the names of most PyTorch kernels begin with the same sixty characters:
//
//   void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int,
//       at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)
//   vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char*, 3ul>>
//
// Return type, namespaces, parameters and `const` are removed. Template arguments distinguish kernels, so they are kept
// and shortened in the same way, two levels deep and up to about a hundred characters. A name that is not a signature
// is unchanged.
#pragma once
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// Characters and operators of C++ names.
constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

constexpr bool starts_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || !is_word(text[word.size()]));
}

// Returns the longest operator name at the start of `text`.
inline std::string_view operator_at(std::string_view text) {
  static constexpr std::string_view kNames =
      "<=> <<= >>= ->* () [] << >> <= >= == != && || ++ -- += -= *= /= %= ^= &= |= -> ";
  for (std::size_t at = 0; at < kNames.size(); at = kNames.find(' ', at) + 1) {
    const std::string_view name = kNames.substr(at, kNames.find(' ', at) - at);
    if (text.starts_with(name)) return name;
  }
  return text.substr(0, !text.empty() && std::string_view("<>+-*/%^&|~!=,").find(text[0]) != text.npos);
}

// Shortens C++ function names as demanglers print them. Removes the return type, namespaces, parameters, const and
// anything after them. Shortens template arguments in the same way, two levels deep and up to about a hundred bytes.
// Returns "" if the text is not understood. Linear in the length; accepts any bytes.
std::string shorten_signature(std::string_view text);

// Returns the demangled form of a linker name ("_Z..."), else "". A name whose text could grow without bounds stays
// mangled.
std::string demangled(std::string_view name);

// Returns the short name, at most kLongestShortName bytes: longer ones are cut between characters and end in "...". A
// name with unbalanced brackets is unchanged. Linear in the length; accepts any bytes.
inline constexpr std::size_t kLongestShortName = 256;
std::string short_name(std::string_view name);

// The short names of a catalogue's strings. Computes each one once and keeps it.
class ShortNames {
 public:
  explicit ShortNames(const Strings& strings) : strings_(&strings) {}

  struct Name {
    std::string_view shown;
    std::string_view full;  // demangled name; "" if `shown` is already complete
  };
  // Views stay valid while this object exists.
  Name operator[](StringId id);

 private:
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  const Strings* strings_;
  std::vector<Name> names_;        // by StringId; data() of `shown` is null until it is computed
  std::deque<std::string> texts_;  // texts that are not in the catalogue
};

// Texts of frames and stacks.

// "train.py(12): step", "transformer.h.0.attn (Attention)", "libtorch_cpu.so+0x1a2b".
std::string frame_text(const Catalog& catalog, const StackFrame& frame);

// Returns the stack as PyTorch's profiler writes it: innermost frame first, separated by ";". Omits calls of modules.
std::string stack_text(const Catalog& catalog, StackId stack);

// Returns the innermost module that was called, by its name in named_modules(), or else by its class and the classes
// around it: "GPT.Block.Attention"; "" if there is none.
std::string module_text(const Catalog& catalog, StackId stack);

}  // namespace cli
