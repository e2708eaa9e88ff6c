// What an export wrote, for the person who asked for it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/show/export/export_job.h"

namespace cli {

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
