// What an export is made of, and what it wrote.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/show/export/export_formats.h"
#include "cli/timeline/merge/ordered_trace.h"
#include "cli/timeline/select/selector.h"
#include "cli/trace/catalog.h"

namespace cli {

// The catalogue as exporters of some processes shall see it.

// A copy with the same ids. The processes that are not `shown` have no events and lost none, so that no exporter writes
// a track that tells of them.
Catalog chosen_catalog(const Catalog& catalog, const std::vector<bool>& shown);

// What an export is made of, whatever its outputs are. All that is pointed to outlives the job.
struct ExportJob {
  OrderedTrace* trace = nullptr;
  const Catalog* catalog = nullptr;  // the trace's, or a copy that says less of processes
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

// What an export wrote, for the person who asked for it.
struct WrittenFile {
  std::string path;
  std::uint64_t bytes = 0;  // uncompressed
  std::uint64_t events = 0;
  std::int64_t rank = -1;  // of a file per process
};

struct ExportReport {
  ExportSummary summary;  // of all files together
  LeftOutSummary left_out;
  std::vector<WrittenFile> files;
  std::uint64_t whole_bytes = 0;    // of an output that was split: what it would have been
  std::uint64_t split_flows = 0;  // from one part to another: in neither
  // What the summary counts because of these flows alone.
  std::uint64_t split_flow_ends = 0, split_works = 0;
  std::size_t cuts_at_steps = 0;
  std::vector<std::string> notes;  // a sentence each
};

}  // namespace cli
