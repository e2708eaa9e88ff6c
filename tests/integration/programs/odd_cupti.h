// What odd_cupti.cpp does to the record of a kernel, chosen by the kernel's grid.z.
#pragma once
#include <cstdint>

namespace programs {

enum class Oddity : std::uint32_t {
  none = 1,
  almost_wide,           // takes 2^32 - 1 ns
  wide,                  // takes 2^32 ns
  ends_before_start,     // by 1000 ns
  no_end,                // end = 0: it was running
  no_times,              // start = end = 0
  unknown_kind,          // a kind that no header knows
  external_correlation,  // another user's, long after the call that it belongs to
};
inline constexpr auto kLastOddity = static_cast<std::uint32_t>(Oddity::external_correlation);

}  // namespace programs
