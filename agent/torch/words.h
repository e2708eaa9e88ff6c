// Reading what another library keeps in its objects, and what several threads learn of it: a race is harmless there, since whoever
// reads an old value only knows less.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace agent {

inline std::uint64_t word_at(const std::byte* at) noexcept {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

inline std::uint32_t learnt(const std::uint32_t& shared) noexcept { return __atomic_load_n(&shared, __ATOMIC_RELAXED); }
inline void learn(std::uint32_t& shared, std::uint32_t value) noexcept { __atomic_store_n(&shared, value, __ATOMIC_RELAXED); }

}  // namespace agent
