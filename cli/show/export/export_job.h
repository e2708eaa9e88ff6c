// What an export is made of, whatever its outputs are. All that is pointed to outlives the job.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/show/export/export_formats.h"
#include "cli/timeline/merge/ordered_trace.h"
#include "cli/timeline/select/selector.h"

namespace cli {

struct ExportJob {
  OrderedTrace* trace = nullptr;
  const Catalog* catalog = nullptr;  // the trace's, or a copy that says less of processes (chosen_catalog.h)
  Selector* selector = nullptr;
  Wanted wanted = {};  // of every walk
  const Steps* steps = nullptr;
  const ExportFormat* format = nullptr;
  FormatOptions format_options;
  bool gzip = false;                      // also an output whose name does not say so
  bool computed = true;                   // tracks of cli/answers/derived are written, too
  const JoinedCollectives* collectives = nullptr;  // of all ranks; null: they are not written
  std::optional<std::int64_t> origin_ns;  // Exporter::origin
  // Throws Error (usage) when a file of this name must not be written: it is an input.
  std::function<void(const std::string&)> check_output = [](const std::string&) {};
};

// What a walk left out of its outputs.
struct LeftOutSummary {
  LeftOutCounts events{};
  std::uint64_t cut_flows = 0;   // from a launch to its work, of which one is left out
  std::vector<std::string> tracks;  // Overlay::notes: tracks that could not be computed
};

}  // namespace cli
