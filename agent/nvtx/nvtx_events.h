// NVTX events into the ring. Before there is a recording they wait, unless this is a CUDA process
// whose CUPTI is not available: there the first event opens it.
#pragma once
#include <cstdint>
#include <string_view>

#include "agent/base/guard.h"
#include "agent/nvtx/nvtx_names.h"
#include "common/record.h"

namespace agent {

// One event as it came. Only push, start and mark have a name, a colour, a category and a payload.
struct NvtxEvent {
  trace::RecordKind kind = trace::NvtxPushRecord::kKind;
  std::uint8_t payload_type = 0;  // nvtxPayloadType_t of 1 to 6; 0: none
  std::uint32_t tid = 0;
  std::uint64_t time_mono_ns = 0;
  const Domain* domain = nullptr;
  std::string_view name{};
  std::uint32_t color_argb = 0;
  std::uint32_t category = 0;
  std::uint64_t range_id = 0;
  std::uint64_t payload = 0;
};

// Fills in thread and time. The caller's texts are read before it returns.
void nvtx_event(const Guard& guard, NvtxEvent& event) noexcept;
// Writes an event now; the recording must be open.
void write_nvtx(const Guard& guard, const NvtxEvent& event) noexcept;

// NVTX seen before the recording begins waits here: bounded, the newest are kept, and what went is counted when there
// is a file.

// False: what waited has been written by now, so write this one too.
bool keep_pending_nvtx(const NvtxEvent& event) noexcept;
// Writes what waits. Once, when the recording begins.
void replay_pending_nvtx(const Guard& guard) noexcept;
// In a forked child that begins afresh: what waits is the parent's.
void forget_pending_nvtx() noexcept;

}  // namespace agent
