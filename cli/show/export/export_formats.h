// The table of export formats: one entry each.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "cli/formats/export/exporter.h"

namespace cli {

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

}  // namespace cli
