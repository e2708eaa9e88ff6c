// How fast a device copies: bytes / duration of each copy while it runs, added up per direction.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "cli/timeline/gpu/running_sum.h"

namespace cli {

// At least 1 where anything was copied; `ns` > 0.
inline std::uint64_t bytes_per_second(std::uint64_t bytes, std::int64_t ns) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50;
  const auto rate = static_cast<double>(bytes) * 1e9 / static_cast<double>(ns);
  return rate >= static_cast<double>(kMost) ? kMost : std::max<std::uint64_t>(bytes > 0, static_cast<std::uint64_t>(rate));
}

// `changed(direction, ns, bytes_per_s)`, as of RunningSum.
class CopyRates {
 public:
  static constexpr std::size_t kDirections = 4;  // to the device, from it, within it, from another one

  // A copy that is written and counted until `end_ns`, by start. One without a duration has no rate.
  template <typename Changed>
  void add(std::size_t direction, std::int64_t start_ns, std::int64_t end_ns, std::int64_t duration_ns, std::uint64_t bytes,
           Changed&& changed) {
    if (duration_ns <= 0) return;
    sums_[direction].add(start_ns, end_ns, bytes_per_second(bytes, duration_ns),
                         [&](std::int64_t ns, std::uint64_t rate) { changed(direction, ns, rate); });
  }
  // One direction: no copy starts before `now_ns` any more.
  template <typename Changed>
  void advance(std::size_t direction, std::int64_t now_ns, Changed&& changed) {
    sums_[direction].advance(now_ns, [&](std::int64_t ns, std::uint64_t rate) { changed(direction, ns, rate); });
  }

 private:
  std::array<RunningSum, kDirections> sums_;
};

}  // namespace cli
