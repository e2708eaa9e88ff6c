#include "cli/trace/short_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

#include "cli/trace/signature.h"

namespace cli {
namespace {

// Of a linker name: each may repeat all that stands before it, so their number bounds the text.
constexpr std::ptrdiff_t kMostReferences = 40;

bool is_signature(std::string_view name) {
  return name.find('<') != name.npos || name.find("::") != name.npos || name.find('(') != name.npos;
}

// A linker name that stays one, for what demangles it gives up on long ones: its last plain part, or "".
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

}  // namespace cli
