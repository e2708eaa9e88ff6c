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

}  // namespace cli
