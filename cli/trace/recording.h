// What a recording says besides its events: of its GPUs, its communicators and of itself. It goes into merged files
// with the process that it belongs to. Numbers are -1 or 0, texts empty, where nothing is known.
#pragma once
#include <cstdint>
#include <string>

#include "cli/trace/words.h"
#include "common/layout.h"
#include "common/record.h"

namespace cli {

// As CUPTI and the driver describe a GPU; the limits are what occupancy is computed from.
struct Device {
  std::int64_t device = 0;  // as CUPTI and this process number it
  std::string name;
  std::string given_name;  // by the program: nvtxNameCudaDeviceA
  std::string uuid;        // "GPU-5a6b7c8d-..."
  std::string pci_bus_id;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_bandwidth_kbps = 0;  // kB/s
  std::uint32_t multiprocessors = 0;
  std::uint32_t compute_major = 0;
  std::uint32_t compute_minor = 0;
  std::uint32_t core_clock_khz = 0;
  std::uint32_t l2_bytes = 0;
  std::uint32_t threads_per_warp = 0;
  std::uint32_t max_threads_per_block = 0;
  std::uint32_t max_warps_per_multiprocessor = 0;
  std::uint32_t max_blocks_per_multiprocessor = 0;
  std::uint32_t max_registers_per_block = 0;
  std::uint32_t max_registers_per_multiprocessor = 0;
  std::uint32_t max_shared_bytes_per_block = 0;
  std::uint32_t max_shared_bytes_per_multiprocessor = 0;
  std::uint32_t copy_engines = 0;

  bool operator==(const Device&) const = default;
};

// As NCCL's init ranges describe it.
struct Communicator {
  std::uint64_t communicator = 0;  // NCCL's hash; 0: NCCL did not tell it
  std::uint64_t parent = 0;        // of a split
  std::int64_t rank = -1;
  std::int64_t ranks = -1;
  std::int64_t device = -1;
  std::int64_t color = -1;
  std::int64_t key = -1;
  std::uint32_t epoch = 0;

  bool operator==(const Communicator&) const = default;
};

// What happened to the recording itself; an event of Kind::notice, too.
struct Notice {
  trace::NoticeCode code{};
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  // start_ns for a moment; 0: had not ended
  std::uint32_t value = 0;
  std::string text;  // a sentence for people

  bool operator==(const Notice&) const = default;
};

// How it was recorded.
struct Recorder {
  std::string agent_version;  // "": not one of our recordings
  std::string events;         // TRACETOOL_EVENTS as it was understood
  RecordingMode mode = RecordingMode::unknown;
  trace::SourceState cupti_state{};
  std::string cupti_holder;   // who holds it where it is taken
  std::string cupti_path;
  trace::SourceState nvtx_state{};
  std::int64_t cupti_error = 0;           // CUptiResult
  std::uint32_t cupti_version = 0;        // cuptiGetVersion
  std::uint32_t cuda_driver_version = 0;  // 13000 is 13.0
  std::uint32_t nccl_version = 0;         // 22809 is 2.28.9
  std::uint64_t clipped_names = 0;        // cut because they were too long
  std::uint64_t sunk_buffers = 0;         // buffers of CUPTI thrown away: what was in them is not known
  std::uint64_t definitions_missed = 0;   // costs space, loses nothing
  std::uint64_t odd_times = 0;            // records whose times were not 0 < start <= end
  std::uint64_t removed_runs = 0;         // earlier runs that it removed; 0 in merged files, which have only the note
  std::uint64_t stacks_left_out = 0;      // of calls: above the rate, or native ones not to be told
  std::uint64_t operators_without_stack = 0;  // requested, but no room
  std::uint64_t module_names_missed = 0;      // no room
  trace::SourceState spool_state{};       // off: there is none; failed: it ended early
  std::int64_t spool_error = 0;           // errno
  std::uint64_t spooled_bytes = 0;
  std::string local_path;  // where the ring lies when it cannot lie in the run's directory
  std::uint64_t agent_cpu_ns = 0;
  std::int64_t created_ns = 0;
  std::int64_t heartbeat_ns = 0;  // the last one
  std::int64_t newest_gpu_end_ns = 0;  // of all work of the GPU that the file holds; 0: none

  bool operator==(const Recorder&) const = default;
};

}  // namespace cli
