// Recognizes the type of a file by its first bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cli {

// Recognizes files that tracetool does not read by their first bytes, and gives advice.
inline constexpr std::size_t kForeignBytes = 512;  // number of bytes examined; enough for a tar archive

// Returns a text such as "a zip archive; unpack it and name the traces in it"; "" if the type is unknown.
std::string_view foreign_file(std::string_view first_bytes);

// Same for JSON without trace events, by a key of its top-level object.
std::string_view foreign_json(std::string_view key);

// Marks tracetool's own JSON exports, so that a directory with recordings and exports is read only once.

// The top-level member "tracetool" of our own exports.
struct ExportMark {
  enum class Form : std::uint8_t { none, chrome, kineto };
  Form form = Form::none;
  std::string run_id;  // of the recordings in a Kineto export; "" for Chrome
};

// Returns the member as text, with its key.
std::string export_mark(const ExportMark& mark);
// Finds the mark in Process::kineto_header.
ExportMark find_export_mark(std::string_view members);

}  // namespace cli
