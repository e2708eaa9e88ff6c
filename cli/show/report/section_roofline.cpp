// The roofline chart: speed of operators over their arithmetic intensity, with the limits of the GPU.

#include <algorithm>
#include <cmath>

#include "cli/base/text.h"
#include "cli/show/report/chart.h"
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"

namespace cli::report {
namespace {

constexpr double kRoofTop = 10, kRoofBottom = 260, kRoofHeight = 300, kMostDecades = 6;
constexpr std::size_t kRoofLetters = 11, kMostRoofDots = 200;

// A logarithmic axis from a millionth of the largest value to the largest value.
class LogAxis {
 public:
  void hold(double value) {
    low_ = std::min(low_, std::floor(std::log10(value)));
    high_ = std::max(high_, std::ceil(std::log10(value)));
  }
  // Returns the position as a share of the length. Values below the axis are at its start.
  double share(double value) const { return std::max(0.0, (std::log10(value) - low()) / std::max(1.0, high_ - low())); }
  std::vector<double> ticks() const {
    std::vector<double> ticks;
    for (double power = low(); power <= std::max(high_, low() + 1); ++power) ticks.push_back(std::pow(10.0, power));
    return ticks;
  }

 private:
  double low() const { return std::max(low_, high_ - kMostDecades); }

  double low_ = 300, high_ = -300;
};

struct RoofPoint {
  std::size_t row = 0;
  double intensity = 0, speed = 0;
  std::int64_t time_ns = 0;
};

// The intensity at which arithmetic becomes the limit, and the speed there, for each number type and GPU.
using Roof = std::pair<double, double>;

struct RoofChart {
  std::vector<RoofPoint> points;  // sorted by time, so that the longest are drawn on top
  std::set<Roof> roofs;
};

RoofChart roof_chart(const TableReading& rows) {
  RoofChart chart;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    const auto intensity = rows.get<double>(row, "flop_per_byte"), speed = rows.get<double>(row, "tflop_per_s");
    const auto ridge = rows.get<double>(row, "ridge_flop_per_byte"), roof = rows.get<double>(row, "roof_tflop_per_s");
    if (!intensity || !speed || *intensity <= 0 || *speed <= 0) continue;
    chart.points.push_back({row, *intensity, *speed, rows.number(row, "time_ns")});
    if (ridge && roof && *ridge > 0 && *roof > 0)
      chart.roofs.emplace(*ridge, *intensity < *ridge ? *roof * *ridge / *intensity : *roof);
  }
  std::ranges::stable_sort(chart.points, [](const RoofPoint& a, const RoofPoint& b) { return a.time_ns > b.time_ns; });
  chart.points.resize(std::min(chart.points.size(), kMostRoofDots));
  std::ranges::reverse(chart.points);
  return chart;
}

// The axes of the chart, and positions on it.
struct RoofAxes {
  LogAxis x, y;

  std::string x_of(double intensity) const { return across(x.share(intensity)); }
  double y_of(double speed) const { return kRoofBottom - (kRoofBottom - kRoofTop) * y.share(speed); }
};

void draw_axes(Html& page, const RoofAxes& axes) {
  for (const double tick : axes.x.ticks()) {
    const std::string x = axes.x_of(tick);
    page.empty("line", {{"class", "grid"}, {"x1", x}, {"x2", x}, {"y1", kRoofTop}, {"y2", kRoofBottom}});
    page.element("text",
                 {{"class", "tick"},
                  {"x", x},
                  {"y", kRoofBottom + 14},
                  {"text-anchor", axes.x.share(tick) > 0.99 ? "end" : "middle"}},
                 fmt::format("{:g}", tick));
  }
  for (const double tick : axes.y.ticks()) {
    const double y = axes.y_of(tick);
    page.empty("line", {{"class", "grid"}, {"x1", 0}, {"x2", "100%"}, {"y1", y}, {"y2", y}});
    page.element("text", {{"class", "tick"}, {"x", -6}, {"y", y + 4}, {"text-anchor", "end"}},
                 fmt::format("{:g} TFLOP/s", tick));
  }
  page.element("text", {{"class", "tick"}, {"x", "50%"}, {"y", kRoofHeight - 8}, {"text-anchor", "middle"}},
               "arithmetic intensity, FLOP/byte");
}

// The sloped line ends at the lower or the left edge.
void draw_roof(Html& page, const RoofAxes& axes, double ridge, double peak) {
  const double left = axes.x.ticks().front(), lowest = axes.y.ticks().front(), right = axes.x.ticks().back();
  const double from = std::max(left, ridge * lowest / peak), y = axes.y_of(peak);
  const std::string x = axes.x_of(ridge);
  page.empty(
      "line",
      {{"class", "line"}, {"x1", axes.x_of(from)}, {"y1", axes.y_of(peak * from / ridge)}, {"x2", x}, {"y2", y}});
  page.empty("line", {{"class", "line"}, {"x1", x}, {"y1", y}, {"x2", axes.x_of(right)}, {"y2", y}});
}

void draw_point(Html& page, const RoofAxes& axes, const TableReading& rows, const RoofPoint& point,
                std::int64_t most_ns) {
  const double radius =
      3 + 7 * std::sqrt(static_cast<double>(point.time_ns) / static_cast<double>(std::max<std::int64_t>(1, most_ns)));
  const bool is_memory = rows.get<std::string>(point.row, "bound") == "memory";
  const auto share = rows.get<double>(point.row, "of_roof_pct");
  const Element in_g(page, "g");
  page.element("title",
               fmt::format("{} {}: {:.4g} TFLOP/s at {:.4g} FLOP/byte, {}{}",
                           rows.get<std::string>(point.row, "name").value_or("unknown"),
                           rows.get<std::string>(point.row, "shape").value_or(""), point.speed, point.intensity,
                           duration_text(point.time_ns), share ? fmt::format(", {:.1f} % of the roof", *share) : ""));
  page.empty("circle", {{"class", is_memory ? "roof-dot olive" : "roof-dot good"},
                        {"cx", axes.x_of(point.intensity)},
                        {"cy", axes.y_of(point.speed)},
                        {"r", radius}});
}

void draw_roofline(Html& page, const TableReading& rows, const RoofChart& chart) {
  RoofAxes axes;
  std::int64_t most_ns = 0;
  for (const RoofPoint& point : chart.points) {
    axes.x.hold(point.intensity);
    axes.y.hold(point.speed);
    most_ns = std::max(most_ns, point.time_ns);
  }
  for (const auto& [ridge, peak] : chart.roofs) {
    axes.x.hold(ridge);
    axes.y.hold(peak);
  }
  open_chart(
      page,
      {"Rate of operators by arithmetic intensity",
       "Both axes are logarithmic. Each dot is an operator and shape; larger dots take more time. The lines are the limits of the GPU: memory bandwidth to the left of the bend, compute to the right.",
       kRoofHeight, kRoofLetters});
  draw_axes(page, axes);
  for (const auto& [ridge, peak] : chart.roofs) draw_roof(page, axes, ridge, peak);
  for (const RoofPoint& point : chart.points) draw_point(page, axes, rows, point, most_ns);
  close_chart(page);
}

void write_roofline(const ReportFacts& facts, Html& page) {
  const TableReading rows(facts.tables, "roofline");
  const RoofChart chart = roof_chart(rows);
  write_paragraph(
      page, chart.roofs.empty()
                ? "The peaks of this GPU are unknown. Set --peak-tflops and --peak-gb-per-s to see its limits."
                : "Dots near a line are as fast as the GPU allows; large dots far below it can save the most time.");
  page.open("figure");
  draw_roofline(page, rows, chart);
  page.close("figure");
  write_folded_table(page, rows.table(), facts, "operators against the roofline");
  if (const ResultTable* const mfu = find_table(facts, "mfu"))
    write_folded_table(page, *mfu, facts, "operations of each step against the peak");
}

}  // namespace

bool has_roofline(const ReportFacts& facts) {
  const TableReading rows(facts.tables, "roofline");
  return rows.rows() > 0 && !roof_chart(rows).points.empty();
}

SectionEntry roofline_section() { return {"roofline", "Roofline", {"roofline", "mfu"}, write_roofline, has_roofline}; }

}  // namespace cli::report
