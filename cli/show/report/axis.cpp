#include "cli/show/report/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace cli {
namespace {

constexpr double kTicks = 5;

struct Scale {
  double divisor;
  const char* unit;
};

// The largest unit of which there is at least one.
template <std::size_t count>
Scale scale_of(double largest, const std::array<Scale, count>& scales) {
  for (const Scale& scale : scales) {
    if (largest >= scale.divisor) return scale;
  }
  return scales.back();
}

Scale scale_of(double largest, Unit unit) {
  static constexpr std::array kTimes{Scale{1e9, "s"}, Scale{1e6, "ms"}, Scale{1e3, "us"}, Scale{1, "ns"}};
  static constexpr std::array kSizes{Scale{1073741824.0, "GiB"}, Scale{1048576.0, "MiB"}, Scale{1024.0, "KiB"}, Scale{1, "bytes"}};
  if (unit == Unit::ns) return scale_of(largest, kTimes);
  if (unit == Unit::bytes) return scale_of(largest, kSizes);
  if (unit == Unit::percent) return {1, "%"};
  return {1, unit == Unit::rate ? "GB/s" : ""};
}

// 1, 2 or 5 with zeros, such that there are at most kTicks steps.
double round_step(double largest) {
  const double power = std::pow(10.0, std::floor(std::log10(largest / kTicks)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (largest <= power * factor * kTicks * (1 + 1e-9)) return power * factor;
  }
  return power * 10;
}

}  // namespace

std::string Axis::tick_text(double value) const { return fmt::format("{:.6g}", value / divisor); }

Axis axis_for(double largest, Unit unit) {
  Axis axis;
  const Scale scale = scale_of(largest, unit);
  axis.divisor = scale.divisor;
  axis.unit = scale.unit;
  const double shown = largest > 0 ? largest / scale.divisor : 1.0, step = round_step(shown);
  const auto steps = static_cast<int>(std::ceil(shown / step - 1e-9));
  for (int i = 0; i <= std::max(1, steps); ++i) axis.ticks.push_back(i * step * scale.divisor);
  axis.most = axis.ticks.back();
  return axis;
}

}  // namespace cli
