#include "cli/show/report/chart.h"

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

namespace {

constexpr double kGutterLetter = 7, kGutterStep = 20;  // pixels; page/charts.css has a class for each step
constexpr std::size_t kMostGutters = 10;

std::size_t gutter_of(std::size_t letters) {
  if (letters == 0) return 0;
  return std::min(kMostGutters, static_cast<std::size_t>(std::ceil((kGutterLetter * static_cast<double>(letters) + 8) / kGutterStep)));
}

}  // namespace

void open_chart(Html& page, const ChartFrame& frame) {
  page.open("div", {{"class", "wide"}});
  page.open("svg", {{"class", fmt::format("chart gutter-{}", gutter_of(frame.label_letters))}, {"height", frame.height}, {"role", "img"}});
  page.element("title", frame.title);
  page.element("desc", frame.description);
}

void close_chart(Html& page) {
  page.close("svg");
  page.close("div");
}

void open_box(Html& page, std::string_view css_class, double from_share, double width_share, double y, double height) {
  page.open("svg", {{"class", css_class}, {"x", across(from_share)}, {"y", y}, {"width", across(std::max(width_share, 0.0001))}, {"height", height}});
}

}  // namespace cli
