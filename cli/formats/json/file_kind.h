// What a file is, by its first bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cli {

// What a file is that tracetool does not read, by its first bytes, and the next step.
inline constexpr std::size_t kForeignBytes = 512;  // that are looked at; enough for a tar archive

// "a zip archive; unpack it and name the traces in it"; "" if it is not known.
std::string_view foreign_file(std::string_view first_bytes);

// The same for JSON without trace events, by the keys of its top-level object.
std::string_view foreign_json(std::string_view key);

// The mark of tracetool's own JSON exports, so that a directory with both recordings and exports is read once.

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
