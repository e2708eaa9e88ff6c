// `info` for people: a table, what was lost, notes, and what to do next.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "cli/base/output_file.h"
#include "cli/base/json_text.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"

namespace cli {

// What was looked at, and what the next command takes.
struct InfoInput {
  bool merged = false;
  std::string inputs = {};  // as words of a command
  std::vector<std::string> steps = {};  // how they were found, of a merged file
};

// `notes` concern all inputs together.
// `fits`: how a merged file was aligned.
std::string info_text(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<std::string>& notes, const InfoInput& input);

// The parts of `info` that say how it was recorded, on which GPUs, and what happened to the recording.

// "recorded by tracetool 0.1.0, events default, mode ring, CUPTI 130001, driver 13.0, NCCL 2.28.9: ranks 0-7"; a line
// for each way in which it was done. "" where nothing is a recording of ours.
std::string recorder_text(const Catalog& catalog);

// A line for each notice: "rank 3: gap of 1.200 s at 4.000 s: another user of CUPTI has registered its own buffers".
std::string notices_text(const Catalog& catalog);

// Returns how old the newest GPU work of an open recording is: "rank 3: last recorded GPU activity: 120.0 ms before the last heartbeat".
std::string newest_work_text(const Process& process);

// "recorder" (null for foreign traces), "devices", "communicators", "notices".
void write_recorder(JsonWriter& json, const Process& process);

// `info --json`: {"ranks":[{"rank","host","pid","counts":{"kernel",...},"overwritten","lost","state",
// ...}],"notes":[]}.

// rank and pid are null when unknown. counts holds the kinds of a recording always, others when there are any;
// overwritten and lost are totals (lost with what CUPTI itself dropped), *_by_kind says of which. `notes` concern all
// inputs together. "clocks" as in merge's report, of merged files.
void write_info_json(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<std::string>& notes, ByteSink& sink);

// What a trace's kernels had besides names: how they were launched, and on what streams. Of recordings; Kineto's files keep
// it in their arguments.
struct LaunchSummary {
  std::size_t configurations = 0;  // of grid, block, registers, memory, cluster, type; 0: none is known
  std::size_t cooperative = 0, clustered = 0;           // of these
  std::uint64_t most_cluster_blocks = 0;                // in a cluster
  std::uint32_t most_local_bytes_per_thread = 0;
  std::set<std::int64_t> priorities;                    // of streams of which it is known; lower numbers run first
};

LaunchSummary launch_summary(const Catalog& catalog);
// A line; "" where nothing is known.
std::string text_of(const LaunchSummary& launches);

}  // namespace cli
