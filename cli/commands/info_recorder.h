// The parts of `info` that say how it was recorded, on which GPUs, and what happened to the recording.
#pragma once
#include <string>

#include "cli/base/json_writer.h"
#include "cli/trace/catalog.h"

namespace cli {

// "recorded by tracetool 0.1.0, events default, mode ring, CUPTI 130001, driver 13.0, NCCL 2.28.9: ranks 0-7"; a line
// for each way in which it was done. "" where nothing is a recording of ours.
std::string recorder_text(const Catalog& catalog);

// A line for each notice: "rank 3: gap of 1.200 s at 4.000 s: another user of CUPTI has registered its own buffers".
std::string notices_text(const Catalog& catalog);

// Returns how old the newest GPU work of an open recording is: "rank 3: last recorded GPU activity: 120.0 ms before the last heartbeat".
std::string newest_work_text(const Process& process);

// "recorder" (null for foreign traces), "devices", "communicators", "notices".
void write_recorder(JsonWriter& json, const Process& process);

}  // namespace cli
