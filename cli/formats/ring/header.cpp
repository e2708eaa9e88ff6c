#include "cli/formats/ring/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "cli/base/files.h"
#include "cli/formats/ring/definitions.h"
#include "cli/formats/ring/file.h"
#include "cli/formats/ring/names.h"
#include "cli/formats/ring/translator.h"
#include "cli/trace/losses.h"
#include "cli/trace/words.h"
#include "common/ring_division.h"

namespace cli::ring {

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
  r.invalid_timestamps = header.invalid_timestamps;
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
  r.truncated_names = header.truncated_names;
  r.discarded_buffers = header.discarded_buffers;
  r.definitions_missed = header.definitions_missed;
  r.agent_cpu_ns = header.agent_cpu_ns;
  r.created_ns = static_cast<std::int64_t>(header.created_real_ns);
  r.heartbeat_ns = static_cast<std::int64_t>(header.heartbeat_real_ns);
  return r;
}

// Returns why there is no GPU work in the recording, if there is none.
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
    process.notes.push_back(
        fmt::format("{} CUDA event records were overwritten or lost: waits for these events have an unknown "
                    "producer",
                    gone));
  }
  add_cupti_note(process.recorder, process);
  const Recorder& r = process.recorder;
  if (r.discarded_buffers > 0) {
    process.notes.push_back(
        fmt::format("{} CUPTI buffers were discarded, because memory was low, or were not fully readable: their "
                    "number of records is unknown",
                    r.discarded_buffers));
  }
  if (r.invalid_timestamps > 0) {
    process.notes.push_back(
        fmt::format("{} CUPTI records had invalid timestamps (not 0 < start <= end)", r.invalid_timestamps));
  }
  if (r.truncated_names > 0)
    process.notes.push_back(fmt::format("{} names were truncated: too long", r.truncated_names));
  if (r.stacks_left_out > 0)
    process.notes.push_back(
        fmt::format("{} calls have no stack: the thread exceeded 100 per second, or the native stack could not be read",
                    r.stacks_left_out));
  if (r.operators_without_stack > 0)
    process.notes.push_back(
        fmt::format("{} operators have no Python stack: no space for its frames in a block (increase TRACETOOL_BUFFER)",
                    r.operators_without_stack));
  if (r.module_names_missed > 0)
    process.notes.push_back(
        fmt::format("{} modules have no name: no space in the definitions region (increase TRACETOOL_BUFFER)",
                    r.module_names_missed));
  if (r.removed_runs > 0) process.notes.push_back(removed_runs_text(r.removed_runs));
}

namespace {

constexpr std::uint64_t kSmallestRing = 64u << 10;

struct Blocks {
  std::uint64_t used = 0, wrong = 0, newest_ticket = 0;
  trace::ClockSample oldest{}, newest{};
};

// Checks that a block is at the position of its ticket, and does not claim more bytes than it has.
bool is_possible(const trace::BlockHeader& block, std::uint64_t index, const trace::FileHeader& header) {
  return block.ticket != 0 && block.ticket % header.block_count == index && block.committed % 8 == 0 &&
         block.committed <= header.block_bytes - header.block_header_bytes;
}

Blocks look_at_blocks(int file, const trace::FileHeader& header) {
  Blocks found;
  for (std::uint64_t index = 0; index < header.block_count; ++index) {
    trace::BlockHeader block;
    const std::uint64_t offset = header.blocks_offset + index * header.block_bytes;
    if (read_at(file, &block, sizeof(block), offset) != sizeof(block)) break;
    if (block.generation == 0) continue;
    ++found.used;
    if (!is_possible(block, index, header)) {
      ++found.wrong;
      continue;
    }
    found.newest_ticket = std::max(found.newest_ticket, block.ticket);
    const trace::ClockSample& clock = block.clock;
    if (clock.real_ns == 0) continue;
    if (found.oldest.real_ns == 0 || clock.real_ns < found.oldest.real_ns) found.oldest = clock;
    if (clock.real_ns > found.newest.real_ns) found.newest = clock;
  }
  return found;
}

std::uint64_t used_definitions(int file, const trace::FileHeader& header) {
  std::vector<std::byte> region(header.definitions_bytes);
  region.resize(read_at(file, region.data(), region.size(), header.definitions_offset));
  return walk_records(region, [](std::size_t, std::uint8_t, std::size_t) {});
}

trace::FileHeader divided(std::uint64_t ring_bytes) {
  trace::FileHeader header{};
  trace::divide_ring(header, ring_bytes);
  header.version = trace::kFormatVersion;
  header.header_bytes = trace::kHeaderBytes;
  header.block_header_bytes = sizeof(trace::BlockHeader);
  return header;
}

// Most ring sizes result in another file length. Those with this length differ in the size of the definitions region.
std::optional<trace::FileHeader> find_division(int file, std::uint64_t file_bytes, Blocks& blocks) {
  std::uint64_t tried = 0;  // definitions_bytes of the last attempt
  for (std::uint64_t more = 0; more < trace::kLargestBlock; ++more) {
    const trace::FileHeader header = divided(file_bytes + more);
    if (header.file_bytes != file_bytes || std::exchange(tried, header.definitions_bytes) == header.definitions_bytes)
      continue;
    blocks = look_at_blocks(file, header);
    if (blocks.used > 0 && blocks.wrong == 0) return header;
  }
  return {};
}

}  // namespace

bool is_ring_without_header(std::string_view first_bytes) {
  if (first_bytes.size() <= trace::kHeaderBytes || first_bytes.find_first_not_of('\0') != trace::kHeaderBytes)
    return false;
  const std::string_view behind = first_bytes.substr(trace::kHeaderBytes);
  return static_cast<std::uint8_t>(behind[0]) < trace::kFirstEventKind;
}

std::optional<trace::FileHeader> recover_header(int file, std::uint64_t file_bytes, const std::string& path) {
  if (file_bytes < kSmallestRing) return {};
  Blocks blocks;
  std::optional<trace::FileHeader> header = find_division(file, file_bytes, blocks);
  if (!header) return {};
  header->definitions_used = used_definitions(file, *header);
  header->claimed_blocks = blocks.newest_ticket;
  header->created_clock = blocks.oldest;
  header->created_real_ns = blocks.oldest.real_ns;
  header->heartbeat_real_ns = blocks.newest.real_ns;
  std::error_code ignored;
  const std::string directory = std::filesystem::absolute(path, ignored).parent_path().filename();
  directory.copy(header->run_id, sizeof(header->run_id) - 1);
  return header;
}

}  // namespace cli::ring
