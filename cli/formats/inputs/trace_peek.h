// What a file is at first sight, and whose, without reading its events: enough to group the files of a directory into
// runs and to tell what is no trace.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

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

}  // namespace cli
