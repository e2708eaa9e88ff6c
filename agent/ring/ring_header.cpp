#include "agent/ring/ring_header.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "agent/clocks.h"
#include "agent/host.h"
#include "agent/ring/trace_file.h"
#include "common/memory.h"

#ifndef TRACETOOL_VERSION
#define TRACETOOL_VERSION "unknown"
#endif

namespace agent {

void divide_ring(trace::FileHeader& header, std::uint64_t ring_bytes) noexcept {
  std::uint64_t block = 4096;
  while (block < (64u << 10) && block * 512 <= ring_bytes) block *= 2;
  std::uint64_t definitions = ring_bytes / 16;
  if (definitions > (16u << 20)) definitions = 16u << 20;
  definitions = (definitions + 16384) / 4096 * 4096;
  header.definitions_offset = trace::kHeaderBytes;
  header.definitions_bytes = definitions;
  header.blocks_offset = header.definitions_offset + definitions;
  header.block_bytes = block;
  header.block_count = (ring_bytes - header.blocks_offset) / block;
  header.file_bytes = header.blocks_offset + header.block_count * block;
}

void write_ring_header(trace::FileHeader& header, std::uint64_t ring_bytes, const char* run,
                       const char* local_path) noexcept {
  divide_ring(header, ring_bytes);
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
