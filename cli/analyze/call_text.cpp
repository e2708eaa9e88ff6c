#include "cli/analyze/call_text.h"

#include <fmt/format.h>

#include <string_view>

namespace cli {

std::string module_class(const Catalog& catalog, const CallPaths::Label& label) {
  constexpr std::string_view kOfProfiler = "nn.Module: ";
  const std::string_view name = catalog.strings[label.name];
  return std::string(name.substr(name.starts_with(kOfProfiler) ? kOfProfiler.size() : 0));
}

std::string call_text(const Catalog& catalog, const CallPaths::Label& label) {
  const std::string_view name = catalog.strings[label.name], file = catalog.strings[label.file];
  switch (label.part) {
    case CallPart::module:
      return label.path != 0 ? fmt::format("{} ({})", catalog.strings[label.path], module_class(catalog, label)) : module_class(catalog, label);
    case CallPart::native:
      return label.name != 0 ? std::string(name) : fmt::format("{}+{:#x}", file.substr(file.rfind('/') + 1), label.address);
    case CallPart::python:
      return label.file != 0 ? fmt::format("{}({}): {}", file, label.line, name) : std::string(name);
    default:
      return std::string(name);
  }
}

}  // namespace cli
