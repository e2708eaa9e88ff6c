#include "cli/formats/ring/ring_description.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/trace/device_words.h"
#include "cli/trace/losses.h"
#include "cli/formats/ring/ring_definitions.h"
#include "cli/formats/ring/ring_kinds.h"
#include "cli/formats/ring/ring_names.h"

namespace cli {
namespace {

Recorder describe_recorder(const trace::FileHeader& header) {
  Recorder r;
  r.agent_version = terminated(header.agent_version);
  r.events = terminated(header.events);
  r.spool_state = static_cast<trace::SourceState>(header.spool_state);
  r.mode = header.spool_state != 0 ? RecordingMode::spool : RecordingMode::ring;
  r.spool_error = header.spool_error;
  r.spooled_bytes = header.spooled_bytes;
  r.local_path = terminated(header.local_path);
  r.odd_times = header.invalid_timestamps;
  r.stacks_left_out = header.stacks_left_out;
  r.operators_without_stack = header.operators_without_stack;
  r.module_names_missed = header.module_names_missed;
  r.removed_runs = header.removed_runs;
  r.cupti_state = static_cast<trace::SourceState>(header.cupti_state);
  r.cupti_holder = terminated(header.cupti_holder);
  r.cupti_path = terminated(header.cupti_path);
  r.nvtx_state = static_cast<trace::SourceState>(header.nvtx_state);
  r.cupti_error = header.cupti_error;
  r.cupti_version = header.cupti_version;
  r.cuda_driver_version = header.cuda_driver_version;
  r.nccl_version = header.nccl_version;
  r.clipped_names = header.truncated_names;
  r.sunk_buffers = header.discarded_buffers;
  r.definitions_missed = header.definitions_missed;
  r.agent_cpu_ns = header.agent_cpu_ns;
  r.created_ns = static_cast<std::int64_t>(header.created_real_ns);
  r.heartbeat_ns = static_cast<std::int64_t>(header.heartbeat_real_ns);
  return r;
}

// Why there is no GPU work in it, where there is none.
void add_cupti_note(const Recorder& recorder, Process& process) {
  if (recorder.cupti_state == trace::SourceState::taken) {
    const std::string& holder = recorder.cupti_holder;
    process.notes.push_back(
        fmt::format("CUPTI was in use by {}: GPU work was not recorded", holder.empty() ? "another tool" : holder));
  } else if (recorder.cupti_state == trace::SourceState::failed) {
    process.notes.push_back(
        fmt::format("CUPTI could not be used (error {}): GPU work was not recorded", recorder.cupti_error));
  }
}

}  // namespace

Process describe_recording(const RingFile& file) {
  const trace::FileHeader& header = file.header();
  Process process;
  process.source = file.path();
  process.format = SourceFormat::ring;
  process.pid = header.pid;
  process.host = header.host;
  process.boot_id = header.boot_id;
  process.run_id = header.run_id;
  process.program = header.program;
  process.state = file.state();
  process.cut = file.cut_text();
  process.recorder = describe_recorder(header);
  return process;
}

Process survey_recording(const std::string& path) {
  RingFile file(path);
  file.count_overwritten();
  Catalog catalog;
  const ProcessId id = catalog.add_process(describe_recording(file));
  RingNames names(file, catalog);
  RingDefinitions(file, catalog, id, names);
  Process process = std::move(catalog.processes[id]);
  add_losses(file, process);
  const trace::FileHeader& header = file.header();
  process.first_ns = process.recorder.created_ns;
  process.last_ns = static_cast<std::int64_t>(std::max(header.heartbeat_real_ns, header.closed_real_ns));
  return process;
}

void add_losses(const RingFile& file, Process& process) {
  for (std::size_t i = 0; i < trace::kEventKinds; ++i) {
    const Kind kind = event_kind(static_cast<std::uint8_t>(trace::kFirstEventKind + i));
    if (kind == Kind::count_) continue;
    process.overwritten[static_cast<std::size_t>(kind)] += file.overwritten()[i];
    process.lost[static_cast<std::size_t>(kind)] += file.header().lost[i];
  }
  process.lost_unknown_kind = file.header().cupti_dropped;
  constexpr auto kCudaEvents = static_cast<std::size_t>(trace::CudaEventRecord::kKind) - trace::kFirstEventKind;
  if (const std::uint64_t gone = file.overwritten()[kCudaEvents] + file.header().lost[kCudaEvents]; gone > 0) {
    process.notes.push_back(fmt::format("{} CUDA event records were overwritten or lost: waits for these events have an unknown "
                                        "producer",
                                        gone));
  }
  add_cupti_note(process.recorder, process);
  const Recorder& r = process.recorder;
  if (r.sunk_buffers > 0) {
    process.notes.push_back(
        fmt::format("{} CUPTI buffers were discarded, because memory was low, or were not fully readable: their "
                    "number of records is unknown",
                    r.sunk_buffers));
  }
  if (r.odd_times > 0) {
    process.notes.push_back(fmt::format("{} CUPTI records had invalid timestamps (not 0 < start <= end)", r.odd_times));
  }
  if (r.clipped_names > 0) process.notes.push_back(fmt::format("{} names were truncated: too long", r.clipped_names));
  if (r.stacks_left_out > 0)
    process.notes.push_back(fmt::format("{} calls have no stack: the thread exceeded 100 per second, or the native stack could not be read", r.stacks_left_out));
  if (r.operators_without_stack > 0)
    process.notes.push_back(fmt::format("{} operators have no Python stack: no space for its frames in a block (increase TRACETOOL_BUFFER)", r.operators_without_stack));
  if (r.module_names_missed > 0)
    process.notes.push_back(fmt::format("{} modules have no name: no space in the definitions region (increase TRACETOOL_BUFFER)", r.module_names_missed));
  if (r.removed_runs > 0) process.notes.push_back(removed_runs_text(r.removed_runs));
}

}  // namespace cli
