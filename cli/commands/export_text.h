// Reports of `export`: text on stderr, JSON on stdout with --json.
#pragma once
#include <string>

#include "cli/base/output_file.h"
#include "cli/show/export/export_job.h"

namespace cli {

struct ExportSaid {
  std::string output;           // as given by the user
  std::string viewers;          // see ExportFormat::viewers
  std::string computed;         // see ExportFormat::computed
  std::uint64_t max_bytes = 0;  // the limit for splitting
  bool is_text = true;          // sizes are before compression
};

void print_export(const ExportReport& report, const ExportSaid& said);

// Writes {"output","events","kept","left_out":{"ranks","steps","time","kinds","min_dur"},"slices","instants",
// "counter_values","flows","cut_flows","one_ended_flows","unplaced_flows","undrawable_flows","backward_flows",
// "works_without_launch","split_flows","unfinished","computed_slices","computed_values","collective_flows",
// "unjoined_calls","files":[{"path","rank","events","uncompressed_bytes"}],"notes":[]}.
// "rank" is present only for files per rank.
void write_export_json(const ExportReport& report, const ExportSaid& said, ByteSink& sink);

}  // namespace cli
