// The inputs and results of an export.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/memory/category_changes.h"
#include "cli/formats/export/exporter.h"
#include "cli/timeline/merge/ordered_trace.h"
#include "cli/timeline/select/selector.h"
#include "cli/trace/catalog.h"

namespace cli {

// The table of export formats, with one entry each.
inline constexpr std::uint64_t kMaxJsonBytes = 200'000'000;  // the limit that browsers still open

struct ExportFormat {
  std::string_view flag;       // "perfetto" for `export --perfetto`
  std::string_view help;       // one line
  std::string_view viewers;    // "open it in ...": the viewers
  std::string_view extension;  // of a file that the user did not name; with ".gz" it is compressed
  std::unique_ptr<Exporter> (*make)(const FormatOptions&);
  std::uint64_t max_bytes = 0;  // default limit for splitting, uncompressed; 0 for none
  bool per_rank = false;        // one file per process, in a directory; each exporter sees the events of one process
  // Derived slices that it writes in addition to events
  std::string_view computed = "idle, exposed communication, collectives, losses";
  bool joins_ranks = true;   // writes collectives over ranks
  bool in_manifest = false;  // files of Perfetto's manifest may have this format
  bool is_native = false;    // Perfetto's own format: takes --gpu-tracks and --compress
};

// Returns the extension without ".gz".
std::string_view ending_of(const ExportFormat& format);

const std::vector<ExportFormat>& export_formats();

// Returns the first format whose ending an output name has, with or without .gz; nullptr if there is none.
const ExportFormat* format_by_name(std::string_view output);

// Returns the format to write for `format`; the extension of `output` may select Perfetto's native format.
const ExportFormat& format_for(const ExportFormat& format, std::string_view output);

// Returns the packet compression within `output`; none if the whole file is compressed.
PacketCompression compression_for(PacketCompression wanted, std::string_view output);

// Returns a copy of the catalogue for exporters, with the same ids. Processes that are not `shown` have no events and
// no losses in it, so exporters write no tracks for them.
Catalog chosen_catalog(const Catalog& catalog, const std::vector<bool>& shown);

// The inputs of an export, independent of its outputs. Everything it points to must outlive it.
struct ExportJob {
  OrderedTrace* trace = nullptr;
  const Catalog* catalog = nullptr;  // the trace's, or a reduced copy
  Selector* selector = nullptr;
  Wanted wanted = {};  // for every walk
  const Steps* steps = nullptr;
  const ExportFormat* format = nullptr;
  FormatOptions format_options;
  bool gzip = false;                                    // compress, even if the name does not end in ".gz"
  bool computed = true;                                 // include the tracks of cli/answers/derived
  const JoinedCollectives* collectives = nullptr;       // of all ranks; null to omit them
  const memory::CategoryChanges* categories = nullptr;  // null if the trace has no allocations of PyTorch
  std::optional<std::int64_t> origin_ns;                // see Exporter::origin
  // Throws Error (usage) if a file of this name must not be written because it is an input.
  std::function<void(const std::string&)> check_output = [](const std::string&) {};
};

// What a walk excluded from its outputs.
struct LeftOutSummary {
  LeftOutCounts events{};
  std::uint64_t cut_flows = 0;      // flows from a launch to its work with one of the two excluded
  std::vector<std::string> tracks;  // Overlay::notes: tracks that could not be computed
};

// The files that an export wrote.
struct WrittenFile {
  std::string path;
  std::uint64_t bytes = 0;  // uncompressed
  std::uint64_t events = 0;
  std::int64_t rank = -1;  // for a file per process
};

struct ExportReport {
  ExportSummary summary;  // of all files together
  LeftOutSummary left_out;
  std::vector<WrittenFile> files;
  std::uint64_t whole_bytes = 0;  // size without splitting, if the output was split
  std::uint64_t split_flows = 0;  // flows between segments, which are in neither
  // Endpoints and work counted in the summary only because of these flows.
  std::uint64_t split_flow_ends = 0, split_works = 0;
  std::size_t cuts_at_steps = 0;
  std::vector<std::string> notes;  // a sentence each
};

}  // namespace cli
