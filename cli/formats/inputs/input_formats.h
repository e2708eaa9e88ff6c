// The input formats, in the order in which open_trace() (reader.h) tries them. A new format is a line in the table of
// input_formats.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/formats/reading/reader.h"
#include "cli/trace/catalog.h"

namespace cli {

// The type and origin of a file, found without reading its events: enough to group the files of a directory into runs
// and to skip files that are no traces.
struct TracePeek {
  enum class Form : std::uint8_t { recording, merged, kineto, nsys, kineto_export, chrome_export, no_trace };

  Form form = Form::no_trace;
  std::string run_id;  // "" if the file does not contain it
  // Start of the recording or session, or of the first event of a merged file or profile; 0 if unknown
  std::int64_t start_ns = 0;
  // For a recording: from its header and definitions, with the overwritten records counted in its blocks. For a merged
  // file: complete. Empty for others.
  std::vector<Process> processes;
  std::string reason;  // for no_trace: the reason, as a sentence without the file's name
};

// Examines a file. A file that cannot be opened or is damaged keeps its form, so that reading it reports the error.
// Returns no trace for JSON or SQLite with an unreadable beginning. Does not throw Error.
TracePeek peek_trace(const std::string& path);

// One function per entry of input_formats(). They throw Error.
TracePeek peek_recording(const std::string& path);
TracePeek peek_merged(const std::string& path);
TracePeek peek_json(const std::string& path);
TracePeek peek_nsys(const std::string& path);

struct InputFormat {
  std::string_view name;
  bool (*matches)(std::string_view first_bytes);  // up to kProbeBytes of the file
  std::unique_ptr<Reader> (*open)(const std::string& path, const ReaderOptions& options);
  TracePeek::Form form;  // form assumed until more is known
  TracePeek (*peek)(const std::string& path);
};

inline constexpr std::size_t kProbeBytes = 4096 + 8;

const std::vector<InputFormat>& input_formats();

// Returns true for a recording, also if its header was destroyed.
bool is_ring(std::string_view first_bytes);

}  // namespace cli
