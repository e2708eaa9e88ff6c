#include "agent/ring/ring_header.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "agent/base/host.h"
#include "agent/base/message.h"
#include "agent/clocks/clocks.h"
#include "agent/ring/recorder.h"
#include "agent/ring/trace_file.h"
#include "common/memory.h"
#include "common/ring_division.h"

namespace agent {

namespace {

struct Launcher {
  const char* rank;
  const char* local_rank;
  const char* world_size;
};

// The largest world size seen: the rank in a communicator of some of the ranks does not identify the process.
constinit std::atomic<std::int32_t> s_world_size{-1};

constexpr Launcher kLaunchers[] = {
    {"RANK", "LOCAL_RANK", "WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"},
    {"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"},
};

trace::IdentityRecord unknown_identity(trace::IdentitySource source) {
  auto record = trace::make_record<trace::IdentityRecord>();
  record.source = static_cast<std::uint8_t>(source);
  record.rank = record.local_rank = record.world_size = record.device = -1;
  record.time_mono_ns = mono_ns();
  return record;
}

void write_identity(const trace::IdentityRecord& record) {
  if (!define(record)) say("the definitions region of the recording is full: rank %d is not recorded", record.rank);
}

// A container may be started with RANK, and torchrun in it: its ranks then have a LOCAL_RANK, which torchrun has not.
bool is_of_recorded_rank(const Launcher& launcher) {
  return shares_with_ancestor(launcher.rank, is_recorded_in_run) &&
         (std::getenv(launcher.local_rank) == nullptr || shares_with_ancestor(launcher.local_rank, is_recorded_in_run));
}

}  // namespace

void record_environment_identity() noexcept {
  for (const Launcher& launcher : kLaunchers) {
    auto record = unknown_identity(trace::IdentitySource::environment);
    if (!env_number(launcher.rank, record.rank)) continue;
    if (is_of_recorded_rank(launcher)) return;
    env_number(launcher.local_rank, record.local_rank);
    env_number(launcher.world_size, record.world_size);
    s_world_size.store(record.world_size);
    write_identity(record);
    return;
  }
}

void record_nccl_identity(std::uint64_t communicator, std::int32_t rank, std::int32_t ranks,
                          std::int32_t device) noexcept {
  if (ranks < s_world_size.load()) return;
  s_world_size.store(ranks);
  auto record = unknown_identity(trace::IdentitySource::nccl_init);
  record.rank = rank;
  record.world_size = ranks;
  record.device = device;
  record.communicator = communicator;
  write_identity(record);
}

}  // namespace agent

#ifndef TRACETOOL_VERSION
#define TRACETOOL_VERSION "unknown"
#endif

namespace agent {

void write_ring_header(trace::FileHeader& header, std::uint64_t ring_bytes, const char* run,
                       const char* local_path) noexcept {
  trace::divide_ring(header, ring_bytes);
  header.version = trace::kFormatVersion;
  header.header_bytes = trace::kHeaderBytes;
  header.block_header_bytes = sizeof(trace::BlockHeader);
  header.pid = static_cast<std::uint32_t>(getpid());
  header.process_start_ticks = process_start_ticks(getpid());
  host_name(header.host, sizeof(header.host));
  boot_id(header.boot_id, sizeof(header.boot_id));
  snprintf(header.run_id, sizeof(header.run_id), "%s", run);
  program_name(header.program, sizeof(header.program));
  snprintf(header.agent_version, sizeof(header.agent_version), "%s", TRACETOOL_VERSION);
  snprintf(header.local_path, sizeof(header.local_path), "%s", local_path);
  header.created_clock = sample_clocks();
  header.created_real_ns = header.created_clock.real_ns;
  header.heartbeat_real_ns = header.created_real_ns;
  std::uint64_t magic;
  std::memcpy(&magic, trace::kMagic, sizeof(magic));
  trace::SharedMemory::store_release(*reinterpret_cast<std::uint64_t*>(header.magic), magic);
}

}  // namespace agent
