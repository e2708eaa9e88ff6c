// The input formats, in the order in which they are tried: open_trace() of reader.h asks each whether a file is its
// own. A new one is a line in the table of input_formats.cpp.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/formats/reading/reader.h"
#include "cli/formats/inputs/trace_peek.h"

namespace cli {

struct InputFormat {
  std::string_view name;
  bool (*matches)(std::string_view first_bytes);  // up to kProbeBytes of the file
  std::unique_ptr<Reader> (*open)(const std::string& path, const ReaderOptions& options);
  TracePeek::Form form;  // what it is before more is known
  TracePeek (*peek)(const std::string& path);
};

inline constexpr std::size_t kProbeBytes = 4096 + 8;

const std::vector<InputFormat>& input_formats();

// A recording, also one whose header was destroyed.
bool is_ring(std::string_view first_bytes);

}  // namespace cli
