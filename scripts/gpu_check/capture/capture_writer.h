// The one file of the process. Thread-safe; nothing is written after a fork in the child, nor beyond the size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "scripts/gpu_check/capture/raw_capture_file.h"

namespace raw_capture {

struct Part {
  const void* at;
  std::size_t bytes;
};

// Makes RAW_CAPTURE_DIR/PID.rawcapture, once. False: the variable is unset, or the file cannot be made: all is inert.
bool open_file(std::uint32_t cupti_version, std::int32_t driver_version) noexcept;
bool is_open() noexcept;

// Bytes that the file may have (RAW_CAPTURE_BYTES, 256 KiB); a quarter is kept for NVTX.
bool has_room(SectionType type, std::size_t bytes) noexcept;
void write_section(SectionType type, std::initializer_list<Part> content) noexcept;

Totals& totals() noexcept;  // to be changed by atomic additions only

std::uint64_t clock_ns(int clock) noexcept;

}  // namespace raw_capture
