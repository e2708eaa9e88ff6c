#include "cli/show/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/show/report/bar_chart.h"

namespace cli::report {

namespace {

constexpr double kTicks = 5;

struct Scale {
  double divisor;
  const char* unit;
};

// Returns the largest unit that is not greater than the value.
template <std::size_t count>
Scale scale_of(double largest, const std::array<Scale, count>& scales) {
  for (const Scale& scale : scales) {
    if (largest >= scale.divisor) return scale;
  }
  return scales.back();
}

Scale scale_of(double largest, Unit unit) {
  static constexpr std::array kTimes{Scale{1e9, "s"}, Scale{1e6, "ms"}, Scale{1e3, "us"}, Scale{1, "ns"}};
  static constexpr std::array kSizes{Scale{1073741824.0, "GiB"}, Scale{1048576.0, "MiB"}, Scale{1024.0, "KiB"},
                                     Scale{1, "bytes"}};
  if (unit == Unit::ns) return scale_of(largest, kTimes);
  if (unit == Unit::bytes) return scale_of(largest, kSizes);
  if (unit == Unit::percent) return {1, "%"};
  return {1, unit == Unit::rate ? "GB/s" : ""};
}

// Returns a step of 1, 2 or 5 times a power of ten that gives at most kTicks steps.
double round_step(double largest) {
  const double power = std::pow(10.0, std::floor(std::log10(largest / kTicks)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (largest <= power * factor * kTicks * (1 + 1e-9)) return power * factor;
  }
  return power * 10;
}

constexpr double kGutterLetter = 7, kGutterStep = 20;  // pixels; page/charts.css has a class for each step
constexpr std::size_t kMostGutters = 10;

std::size_t gutter_of(std::size_t letters) {
  if (letters == 0) return 0;
  return std::min(kMostGutters, static_cast<std::size_t>(
                                    std::ceil((kGutterLetter * static_cast<double>(letters) + 8) / kGutterStep)));
}

constexpr double kFieldTop = 22, kFieldHeight = 22, kApart = 6;
constexpr int kShades = 5, kDarkShade = 3;  // text is light from this shade on
constexpr std::size_t kColumnNames = 20;

// Returns the shade, from 0 to kShades.
int shade_of(double heat) { return std::min(kShades, static_cast<int>(std::lround(std::abs(heat) * kShades))); }

// Returns the share of the plot from its left edge to a column.
double left_of(const HeatMap& map, std::size_t column) {
  return 1.0 / static_cast<double>(map.columns.size()) * static_cast<double>(column);
}

void draw_heat_head(Html& page, const HeatMap& map) {
  const std::size_t every = (map.columns.size() + kColumnNames - 1) / kColumnNames;
  for (std::size_t i = 0; i < map.columns.size(); i += every) {
    open_box(page, "box", left_of(map, i), left_of(map, every), kFieldTop - 20, 18);
    page.element("title", map.columns[i]);
    page.element(
        "text",
        {{"class", map.culprits.contains(i) ? "culprit" : "tick"}, {"x", "50%"}, {"y", 13}, {"text-anchor", "middle"}},
        map.columns[i]);
    close_box(page);
  }
}

void draw_field(Html& page, const HeatMap& map, const HeatField& field, std::size_t column, double y) {
  const int shade = shade_of(field.heat);
  open_box(page, "box", left_of(map, column), left_of(map, 1), y, kFieldHeight - 2);
  page.element("title", field.title);
  page.empty("rect", {{"class", fmt::format("field{} shade-{}", field.heat < 0 ? " little" : "", shade)},
                      {"width", "100%"},
                      {"height", "100%"}});
  if (map.columns.size() <= kMostTextColumns)
    page.element("text",
                 {{"class", shade >= kDarkShade ? "on-dark" : "on-light"},
                  {"x", "50%"},
                  {"y", kFieldHeight - 7},
                  {"text-anchor", "middle"}},
                 field.text);
  close_box(page);
}

constexpr double kSpreadTop = 10, kSpreadBottom = 200, kSpreadHeight = 240;
constexpr std::size_t kSpreadNumbers = 10, kSpreadLetters = 9;

// Marks with is_apart do not affect the scale, unless there are no others.
double largest(const std::vector<SpreadMark>& marks) {
  double steady = 0, all = 0;
  for (const SpreadMark& mark : marks) {
    all = std::max(all, mark.highest);
    if (!mark.is_apart) steady = std::max(steady, mark.highest);
  }
  return steady > 0 ? steady : all;
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

void open_chart(Html& page, const ChartFrame& frame) {
  page.open("div", {{"class", "wide"}});
  page.open("svg", {{"class", fmt::format("chart gutter-{}", gutter_of(frame.label_letters))},
                    {"height", frame.height},
                    {"role", "img"}});
  page.element("title", frame.title);
  page.element("desc", frame.description);
}

void close_chart(Html& page) {
  page.close("svg");
  page.close("div");
}

void open_box(Html& page, std::string_view css_class, double from_share, double width_share, double y, double height) {
  page.open("svg", {{"class", css_class},
                    {"x", across(from_share)},
                    {"y", y},
                    {"width", across(std::max(width_share, 0.0001))},
                    {"height", height}});
}

void write_heat_map(Html& page, const HeatMap& map) {
  const Element in_figure(page, "figure");
  page.element("p", {{"class", "caption"}}, map.columns_are);
  double height = kFieldTop + 4;
  std::size_t letters = 4;
  for (const HeatRow& row : map.rows) {
    height += kFieldHeight + (row.is_apart ? kApart : 0);
    letters = std::max(letters, row.label.size());
  }
  open_chart(page, {map.title, map.description, height, letters});
  draw_heat_head(page, map);
  double y = kFieldTop;
  for (const HeatRow& row : map.rows) {
    if (row.is_apart) {
      const double line = y + kApart / 2 - 1;
      page.empty("line", {{"class", "grid"}, {"x1", 0}, {"x2", "100%"}, {"y1", line}, {"y2", line}});
      y += kApart;
    }
    page.element("text", {{"x", -6}, {"y", y + kFieldHeight - 7}, {"text-anchor", "end"}},
                 label_end(row.label, kMostGutterLetters));
    for (std::size_t i = 0; i < row.fields.size(); ++i) {
      if (row.fields[i]) draw_field(page, map, *row.fields[i], i, y);
    }
    y += kFieldHeight;
  }
  close_chart(page);
}

void write_spread(Html& page, const SpreadChart& chart) {
  const Element in_figure(page, "figure");
  const std::vector<SpreadMark>& marks = chart.marks;
  const Axis axis = axis_for(largest(marks), chart.unit);
  const auto x_of = [&](std::size_t i) {
    return across((static_cast<double>(i) + 0.5) / static_cast<double>(marks.size()));
  };
  const auto y_of = [&](double value) {
    return kSpreadBottom - (kSpreadBottom - kSpreadTop) * std::min(value, axis.most) / axis.most;
  };
  open_chart(page, {chart.title, chart.description, kSpreadHeight, kSpreadLetters});
  for (const double tick : axis.ticks) {
    const double y = y_of(tick);
    page.empty("line", {{"class", "grid"}, {"x1", 0}, {"x2", "100%"}, {"y1", y}, {"y2", y}});
    page.element("text", {{"class", "tick"}, {"x", -6}, {"y", y + 4}, {"text-anchor", "end"}},
                 fmt::format("{} {}", axis.tick_text(tick), axis.unit));
  }
  const std::size_t every = (marks.size() + kSpreadNumbers - 1) / kSpreadNumbers;
  for (std::size_t i = 0; i < marks.size(); i += every)
    page.element("text", {{"class", "tick"}, {"x", x_of(i)}, {"y", kSpreadBottom + 15}, {"text-anchor", "middle"}},
                 marks[i].label);
  page.element("text", {{"class", "tick"}, {"x", "50%"}, {"y", kSpreadHeight - 6}, {"text-anchor", "middle"}},
               fmt::format("{} by {}", chart.quantity, chart.across));
  for (std::size_t i = 0; i + 1 < marks.size(); ++i)
    page.empty("line", {{"class", "line"},
                        {"x1", x_of(i)},
                        {"y1", y_of(marks[i].middle)},
                        {"x2", x_of(i + 1)},
                        {"y2", y_of(marks[i + 1].middle)}});
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const SpreadMark& mark = marks[i];
    const std::string x = x_of(i);
    const double top = y_of(mark.highest);
    const Element in_g(page, "g");
    page.element("title", mark.text);
    page.empty("line", {{"class", "range"}, {"x1", x}, {"x2", x}, {"y1", y_of(mark.lowest)}, {"y2", top}});
    page.empty("circle",
               {{"class", mark.is_apart ? "dot hollow" : "dot"}, {"cx", x}, {"cy", y_of(mark.middle)}, {"r", 3}});
    if (mark.highest > axis.most)
      page.element("text", {{"class", "above"}, {"x", x}, {"y", top}, {"text-anchor", "middle"}}, "\u25b2");
  }
  close_chart(page);
}

}  // namespace cli::report
