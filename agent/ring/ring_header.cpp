#include "agent/ring/ring_header.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "agent/base/host.h"
#include "agent/clocks/clocks.h"
#include "agent/ring/trace_file.h"
#include "common/memory.h"
#include "common/ring_division.h"

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
