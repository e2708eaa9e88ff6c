// What a JSON file says of itself before its first event: is it a trace, who wrote it, and of when. Reads a window or two
// of a trace, and the whole of what is none.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "cli/formats/json/export_mark.h"

namespace cli {

struct KinetoPeek {
  bool is_trace = false;
  ExportMark mark;
  std::optional<std::int64_t> start_ns;  // of the first event with a time; unknown where its base stands behind it
};

// Throws Error (cannot_open; bad_content where the text is no JSON from its first byte on).
KinetoPeek peek_kineto(const std::string& path);

}  // namespace cli
