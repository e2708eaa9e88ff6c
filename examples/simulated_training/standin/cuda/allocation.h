// Device memory as numbers: addresses are drawn in order, and who has which bytes is known for the records.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../events.h"
#include "call.h"

namespace sim {

struct Pool;

struct Allocation {
  std::uint64_t address, bytes;
  std::uint8_t memory;  // CUpti_ActivityMemoryKind
  Pool* pool;           // null: none
};

std::uint64_t draw_address(std::size_t bytes);
// What is allocated on devices now.
std::uint64_t device_bytes();
// The bytes begin in pinned memory of the host.
bool is_pinned(const void* host);
// Remembers it and tells CUPTI. `stream`: of an asynchronous allocation, else null.
void allocated(const Call& call, const Allocation& allocation, const Stream* stream);
// False: no such allocation.
bool released(const Call& call, std::uint64_t address, const Stream* stream);

}  // namespace sim
