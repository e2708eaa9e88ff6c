// The options of `report`, and the function that makes its page. `open --report` uses it, too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/inputs.h"
#include "cli/commands/peak_options.h"
#include "cli/commands/selection_options.h"
#include "cli/show/report/report.h"

namespace cli {

struct ReportOptions {
  std::shared_ptr<InputOptions> inputs;
  std::shared_ptr<SelectionOptions> selection;
  std::shared_ptr<PeakOptions> peaks;
  std::shared_ptr<std::size_t> memory_mib;
  std::string output, title, timeline_ranks, classes;
  std::optional<std::int64_t> step;
};

// Reads the inputs and makes the page. Scratch files go next to `output`. Throws Error as read_inputs() and make_report() do, and (usage)
// if an option does not fit the trace.
Report report_of(const ReportOptions& options, const std::vector<TraceInput>& inputs, const std::string& output);

}  // namespace cli
