// The roofline chart: speed of operators over their arithmetic intensity, with the limits of the GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

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
  std::stable_sort(chart.points.begin(), chart.points.end(),
                   [](const RoofPoint& a, const RoofPoint& b) { return a.time_ns > b.time_ns; });
  chart.points.resize(std::min(chart.points.size(), kMostRoofDots));
  std::reverse(chart.points.begin(), chart.points.end());
  return chart;
}

class RoofDrawing {
 public:
  RoofDrawing(Html& page, const TableReading& rows, const RoofChart& chart) : page_(page), rows_(rows), chart_(chart) {
    for (const RoofPoint& point : chart.points) {
      x_.hold(point.intensity);
      y_.hold(point.speed);
      most_ns_ = std::max(most_ns_, point.time_ns);
    }
    for (const auto& [ridge, peak] : chart.roofs) {
      x_.hold(ridge);
      y_.hold(peak);
    }
  }

  void draw() {
    open_chart(
        page_,
        {"Rate of operators by arithmetic intensity",
         "Both axes are logarithmic. Each dot is an operator and shape; larger dots take more time. The lines are the limits of the GPU: "
         "memory bandwidth to the left of the bend, compute to the right.",
         kRoofHeight, kRoofLetters});
    draw_axes();
    for (const auto& [ridge, peak] : chart_.roofs) draw_roof(ridge, peak);
    for (const RoofPoint& point : chart_.points) draw_point(point);
    close_chart(page_);
  }

 private:
  std::string x_of(double intensity) const { return across(x_.share(intensity)); }
  double y_of(double speed) const { return kRoofBottom - (kRoofBottom - kRoofTop) * y_.share(speed); }

  void draw_axes() {
    for (const double tick : x_.ticks()) {
      page_.empty("line",
                  {{"class", "grid"}, {"x1", x_of(tick)}, {"x2", x_of(tick)}, {"y1", kRoofTop}, {"y2", kRoofBottom}});
      page_.element("text",
                    {{"class", "tick"},
                     {"x", x_of(tick)},
                     {"y", kRoofBottom + 14},
                     {"text-anchor", x_.share(tick) > 0.99 ? "end" : "middle"}},
                    fmt::format("{:g}", tick));
    }
    for (const double tick : y_.ticks()) {
      page_.empty("line", {{"class", "grid"}, {"x1", 0}, {"x2", "100%"}, {"y1", y_of(tick)}, {"y2", y_of(tick)}});
      page_.element("text", {{"class", "tick"}, {"x", -6}, {"y", y_of(tick) + 4}, {"text-anchor", "end"}},
                    fmt::format("{:g} TFLOP/s", tick));
    }
    page_.element("text", {{"class", "tick"}, {"x", "50%"}, {"y", kRoofHeight - 8}, {"text-anchor", "middle"}},
                  "arithmetic intensity, FLOP/byte");
  }

  // The sloped line ends at the lower or the left edge.
  void draw_roof(double ridge, double peak) {
    const double left = x_.ticks().front(), lowest = y_.ticks().front(), right = x_.ticks().back();
    const double from = std::max(left, ridge * lowest / peak);
    page_.empty("line", {{"class", "line"},
                         {"x1", x_of(from)},
                         {"y1", y_of(peak * from / ridge)},
                         {"x2", x_of(ridge)},
                         {"y2", y_of(peak)}});
    page_.empty("line",
                {{"class", "line"}, {"x1", x_of(ridge)}, {"y1", y_of(peak)}, {"x2", x_of(right)}, {"y2", y_of(peak)}});
  }

  void draw_point(const RoofPoint& point) {
    const double radius = 3 + 7 * std::sqrt(static_cast<double>(point.time_ns) /
                                            static_cast<double>(std::max<std::int64_t>(1, most_ns_)));
    const bool is_memory = rows_.get<std::string>(point.row, "bound") == "memory";
    const Element in_g(page_, "g");
    page_.element("title", fmt::format("{} {}: {:.4g} TFLOP/s at {:.4g} FLOP/byte, {}{}",
                                       rows_.get<std::string>(point.row, "name").value_or("unknown"),
                                       rows_.get<std::string>(point.row, "shape").value_or(""), point.speed,
                                       point.intensity, duration_text(point.time_ns), of_roof_text(point.row)));
    page_.empty("circle", {{"class", is_memory ? "roof-dot olive" : "roof-dot good"},
                           {"cx", x_of(point.intensity)},
                           {"cy", y_of(point.speed)},
                           {"r", radius}});
  }

  std::string of_roof_text(std::size_t row) const {
    const auto share = rows_.get<double>(row, "of_roof_pct");
    return share ? fmt::format(", {:.1f} % of the roof", *share) : "";
  }

  Html& page_;
  const TableReading& rows_;
  const RoofChart& chart_;
  LogAxis x_, y_;
  std::int64_t most_ns_ = 0;
};

void write_roofline(const ReportFacts& facts, Html& page) {
  const TableReading rows(facts.tables, "roofline");
  const RoofChart chart = roof_chart(rows);
  write_paragraph(
      page, chart.roofs.empty()
                ? "The peaks of this GPU are unknown. Set --peak-tflops and --peak-gb-per-s to see its limits."
                : "Dots near a line are as fast as the GPU allows; large dots far below it can save the most time.");
  page.open("figure");
  RoofDrawing(page, rows, chart).draw();
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
