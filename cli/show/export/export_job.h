// What an export is made of, and what it wrote.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/formats/export/exporter.h"
#include "cli/timeline/merge/ordered_trace.h"
#include "cli/timeline/select/selector.h"
#include "cli/trace/catalog.h"

namespace cli {

// The table of export formats: one entry each.
inline constexpr std::uint64_t kMaxJsonBytes = 200'000'000;  // what browsers still open

struct ExportFormat {
  std::string_view flag;       // "perfetto" for `export --perfetto`
  std::string_view help;       // one line
  std::string_view viewers;    // "open it in ...": what reads it
  std::string_view extension;  // of a file that the user did not name; with ".gz" it is compressed
  std::unique_ptr<Exporter> (*make)(const FormatOptions&);
  std::uint64_t max_bytes = 0;  // split above it (uncompressed), unless the user says otherwise; 0: never
  bool per_rank = false;        // a file per process, in a directory: each exporter sees the events of one
  std::string_view computed = "idle, exposed communication, collectives, losses";  // what slices it writes besides events
  bool joins_ranks = true;  // it writes collectives over ranks
};

const std::vector<ExportFormat>& export_formats();

// By the ending of an output whose format was not named: .pftrace and .json, both also with .gz; nullptr for others.
const ExportFormat* format_by_name(std::string_view output);

// What is written to `output` when the user asked for `format`: Perfetto's native form by its ending.
const ExportFormat& format_for(const ExportFormat& format, std::string_view output);

// Of the packets within `output`: none where the whole file is compressed.
PacketCompression compression_for(PacketCompression wanted, std::string_view output);

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
