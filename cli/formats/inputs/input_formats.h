// The input formats, in the order in which they are tried: open_trace() of reader.h asks each whether a file is its
// own. A new one is a line in the table of input_formats.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/formats/reading/reader.h"
#include "cli/trace/catalog.h"

namespace cli {

// What a file is at first sight, and whose, without reading its events: enough to group the files of a directory into
// runs and to tell what is no trace.
struct TracePeek {
  enum class Form : std::uint8_t { recording, merged, kineto, kineto_export, chrome_export, no_trace };

  Form form = Form::no_trace;
  std::string run_id;         // "" where the file does not say
  std::int64_t start_ns = 0;  // of the recording, of a merged file's or a profile's first event; 0: unknown
  // A recording's, as far as its header and definitions tell, with what its blocks count as overwritten; a merged
  // file's, whole; none of JSON.
  std::vector<Process> processes;
  std::string reason;  // of no_trace: why, as a sentence without the file's name
};

// A file that cannot be opened or that is damaged keeps its form, so that reading it says what is wrong; JSON of which
// not even the beginning can be read is no trace. Throws nothing of Error.
TracePeek peek_trace(const std::string& path);

// One per entry of input_formats(); they throw Error.
TracePeek peek_recording(const std::string& path);
TracePeek peek_merged(const std::string& path);
TracePeek peek_json(const std::string& path);

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
