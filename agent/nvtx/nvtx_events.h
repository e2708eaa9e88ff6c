// Writes NVTX events to the ring. Before there is a recording they wait, unless CUPTI is not available in this CUDA
// process; the first event then opens the recording.
#pragma once
#include <cstdint>
#include <string_view>

#include "agent/base/guard.h"
#include "agent/nvtx/nvtx_names.h"
#include "common/record.h"

namespace agent {

// An event as received. Only push, start and mark have a name, a colour, a category and a payload.
struct NvtxEvent {
  trace::RecordKind kind = trace::NvtxPushRecord::kKind;
  std::uint8_t payload_type = 0;  // nvtxPayloadType_t of 1 to 6; 0 if none
  std::uint32_t tid = 0;
  std::uint64_t time_mono_ns = 0;
  const Domain* domain = nullptr;
  std::string_view name{};
  std::uint32_t color_argb = 0;
  std::uint32_t category = 0;
  std::uint64_t range_id = 0;
  std::uint64_t payload = 0;
};

// Sets thread and time. Copies the caller's texts before it returns.
void nvtx_event(const Guard& guard, NvtxEvent& event) noexcept;

// NVTX events before the recording begins wait in a bounded buffer. The newest are kept, and the lost ones are counted
// when there is a file.

// Writes the waiting events once, when the recording begins.
void replay_pending_nvtx(const Guard& guard) noexcept;
// Called in a forked child that begins again: the waiting events are the parent's.
void forget_pending_nvtx() noexcept;

}  // namespace agent
