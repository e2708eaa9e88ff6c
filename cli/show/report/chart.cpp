#include "cli/show/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cli {
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
