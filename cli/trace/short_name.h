// Names of kernels as an export shows them: a C++ signature is mostly namespaces, types and parameters, so that every
// slice of PyTorch begins with the same sixty characters.
//
//   void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int,
//       at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)
//   vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char*, 3ul>>
//
// Gone are the return type, namespaces, parameters and `const`; template arguments stay, shortened likewise, two levels
// deep and for about a hundred characters, for they tell one kernel from another. What is no signature stays as it is.
#pragma once
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// The words and operators of C++ names.
constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

constexpr bool starts_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || !is_word(text[word.size()]));
}

// The operator's name at the start of `text`: the longest first.
inline std::string_view operator_at(std::string_view text) {
  static constexpr std::string_view kNames =
      "<=> <<= >>= ->* () [] << >> <= >= == != && || ++ -- += -= *= /= %= ^= &= |= -> ";
  for (std::size_t at = 0; at < kNames.size(); at = kNames.find(' ', at) + 1) {
    const std::string_view name = kNames.substr(at, kNames.find(' ', at) - at);
    if (text.starts_with(name)) return name;
  }
  return text.substr(0, !text.empty() && std::string_view("<>+-*/%^&|~!=,").find(text[0]) != text.npos);
}

// C++ functions as demanglers print them, made short: the grammar that short_name() goes by.

// Without return type, namespaces, parameters, const and what stands behind; template arguments likewise, two levels
// deep and until some hundred bytes are full. "" when it is not understood. Linear in the length; any bytes.
std::string shorten_signature(std::string_view text);

// The demangled form of a linker name ("_Z..."), else "". Names whose text could grow without bounds stay mangled.
std::string demangled(std::string_view name);

// Linear in the length; any bytes. Brackets that do not match: the name as it is. At most kLongestShortName bytes, cut
// between characters, "..." behind.
inline constexpr std::size_t kLongestShortName = 256;
std::string short_name(std::string_view name);

// The short names of a catalogue's strings, each made once. Memory: the short names.
class ShortNames {
 public:
  explicit ShortNames(const Strings& strings) : strings_(&strings) {}

  struct Name {
    std::string_view shown;
    std::string_view full;  // demangled; "" when `shown` is all
  };
  // Views live as long as this does.
  Name operator[](StringId id);

 private:
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  const Strings* strings_;
  std::vector<Name> names_;        // by StringId; shown without data: not asked yet
  std::deque<std::string> texts_;  // what is not in the catalogue
};

// What people call frames and stacks.

// "train.py(12): step", "transformer.h.0.attn (Attention)", "libtorch_cpu.so+0x1a2b".
std::string frame_text(const Catalog& catalog, const StackFrame& frame);

// As PyTorch's profiler writes it: the innermost frame first, with ; between them. Of calls of modules nothing.
std::string stack_text(const Catalog& catalog, StackId stack);

// The innermost module that was called, as named_modules() says, or else the classes of it and of those around it: "GPT.Block.Attention";
// "" where none was.
std::string module_text(const Catalog& catalog, StackId stack);

}  // namespace cli
