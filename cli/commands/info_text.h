// Implements the output of `info`: a table, losses, notes, and the next step.
#pragma once
#include <string>
#include <vector>

#include "cli/base/output_file.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"

namespace cli {

// The inputs of `info`, and their form for the next command.
struct InfoInput {
  bool merged = false;
  std::string inputs = {};              // as words of a shell command
  std::vector<std::string> steps = {};  // how steps were found, for a merged file
};

// `notes` are about all inputs together. `fits` is how a merged file was aligned.
std::string info_text(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<std::string>& notes,
                      const InfoInput& input);

// Returns one line per configuration: "recorded by tracetool 0.1.0, events default, mode ring, CUPTI 130001, driver
// 13.0, NCCL 2.28.9: ranks 0-7"; "" if no input is a tracetool recording.
std::string recorder_text(const Catalog& catalog);

// Writes `info --json`: {"ranks":[{"rank","host","pid","counts":{"kernel",...},"overwritten","lost","state",
// ...}],"notes":[]}. rank and pid are null if unknown. counts always contains the kinds of a recording, and others if
// there are any. overwritten and lost are totals (lost includes CUPTI's own drops); *_by_kind has them by kind. `notes`
// are about all inputs together. For merged files, "clocks" is the same as in merge's report.
void write_info_json(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<std::string>& notes,
                     ByteSink& sink);

}  // namespace cli
