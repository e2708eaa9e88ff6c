// What a JSON file says of itself before its first event: is it a trace, who wrote it, and of when. Reads a window or two
// of a trace, and the whole of what is none.
#pragma once
#include <cstdint>
#include <optional>
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

struct KinetoPeek {
  bool is_trace = false;
  ExportMark mark;
  std::optional<std::int64_t> start_ns;  // of the first event with a time; unknown where its base stands behind it
};

// Throws Error (cannot_open; bad_content where the text is no JSON from its first byte on).
KinetoPeek peek_kineto(const std::string& path);

}  // namespace cli
