// The mark of tracetool's own JSON exports, so that a directory with both recordings and exports is read once.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace cli {

// The top-level member "tracetool" of our own exports.
struct ExportMark {
  enum class Form : std::uint8_t { none, chrome, kineto };
  Form form = Form::none;
  std::string run_id;  // of the recordings that a Kineto export was made of; "" for a Chrome one
};

// The member as it is written, with its key.
std::string export_mark(const ExportMark& mark);
// Finds it in Process::kineto_header.
ExportMark find_export_mark(std::string_view members);

}  // namespace cli
