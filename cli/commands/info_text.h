// Implements the output of `info`: a table, losses, notes, and the next step.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "cli/base/json_text.h"
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

// Parts of `info`: how a trace was recorded, on which GPUs, and incidents in the recording.

// Returns one line per configuration: "recorded by tracetool 0.1.0, events default, mode ring, CUPTI 130001, driver
// 13.0, NCCL 2.28.9: ranks 0-7"; "" if no input is a tracetool recording.
std::string recorder_text(const Catalog& catalog);

// Returns one line per notice: "rank 3: gap of 1.200 s at 4.000 s: another user of CUPTI has registered its own
// buffers".
std::string notices_text(const Catalog& catalog);

// Returns how old the newest GPU work of an open recording is: "rank 3: last recorded GPU activity: 120.0 ms before the last heartbeat".
std::string newest_work_text(const Process& process);

// Writes "recorder" (null for foreign traces), "devices", "communicators" and "notices".
void write_recorder(JsonWriter& json, const Process& process);

// Writes `info --json`: {"ranks":[{"rank","host","pid","counts":{"kernel",...},"overwritten","lost","state",
// ...}],"notes":[]}. rank and pid are null if unknown. counts always contains the kinds of a recording, and others if
// there are any. overwritten and lost are totals (lost includes CUPTI's own drops); *_by_kind has them by kind. `notes`
// are about all inputs together. For merged files, "clocks" is the same as in merge's report.
void write_info_json(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<std::string>& notes,
                     ByteSink& sink);

// Summary of the kernels' launch configurations and streams. For recordings only; Kineto files keep these facts in
// their arguments.
struct LaunchSummary {
  // Different combinations of grid, block, registers, memory, cluster and type; 0 if unknown
  std::size_t configurations = 0;
  std::size_t cooperative = 0, clustered = 0;  // number of these configurations
  std::uint64_t most_cluster_blocks = 0;       // maximum blocks per cluster
  std::uint32_t most_local_bytes_per_thread = 0;
  std::set<std::int64_t> priorities;  // of streams with a known priority; lower numbers run first
};

LaunchSummary launch_summary(const Catalog& catalog);
// Returns one line; "" if nothing is known.
std::string text_of(const LaunchSummary& launches);

}  // namespace cli
