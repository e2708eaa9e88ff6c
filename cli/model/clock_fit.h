// How one clock domain (a host) lies on the common axis: axis_ns = t + offset_ns + drift_ppm * 1e-6 * (t -
// reference_ns).
#pragma once
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cli {

struct ClockFit {
  std::string host;
  std::string boot_id;              // the clock domain; "" when unknown
  std::vector<std::int64_t> ranks;  // ascending, known ones only
  std::int64_t offset_ns = 0;       // at reference_ns
  std::int64_t reference_ns = 0;
  double drift_ppm = 0;
  std::uint64_t samples = 0;                             // what the estimate rests on; 0: nothing was estimated
  std::optional<std::int64_t> mad_ns;                    // median absolute deviation of the samples
  std::optional<std::int64_t> bound_lo_ns, bound_hi_ns;  // the true offset lies between; none: unknown
  std::string method;

  bool moves() const { return offset_ns != 0 || drift_ppm != 0; }
  std::int64_t on_axis(std::int64_t ns) const {
    if (drift_ppm == 0) return ns + offset_ns;
    return ns + offset_ns + std::llround(drift_ppm * 1e-6 * static_cast<double>(ns - reference_ns));
  }
};

}  // namespace cli
