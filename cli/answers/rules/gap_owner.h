// What idle time of a device can belong to (gap_claims.h).
#pragma once
#include <cstddef>
#include <cstdint>

namespace cli {

enum class GapOwner : std::uint8_t { garbage_collection, allocation, data_loading, blocking_copy, host_sync, optimizer, launches, host_late, unexplained, count_ };
inline constexpr std::size_t kGapOwners = static_cast<std::size_t>(GapOwner::count_);

struct ClaimedGap;
class GapClaims;

}  // namespace cli
