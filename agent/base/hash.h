// A hash for tables that verify every hit.
#pragma once
#include <cstddef>
#include <cstdint>

namespace agent {

std::uint64_t hash_bytes(const void* bytes, std::size_t size, std::uint64_t seed) noexcept;

}  // namespace agent
