#include "cli/show/report/spread_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/show/report/chart.h"

namespace cli {
namespace {

constexpr double kSpreadTop = 10, kSpreadBottom = 200, kSpreadHeight = 240;
constexpr std::size_t kSpreadNumbers = 10, kSpreadLetters = 9;

class SpreadDrawing {
 public:
  SpreadDrawing(Html& page, const SpreadChart& chart) : page_(page), chart_(chart), axis_(axis_for(largest(chart.marks), chart.unit)) {}

  void draw() {
    open_chart(page_, {chart_.title, chart_.description, kSpreadHeight, kSpreadLetters});
    draw_axes();
    for (std::size_t i = 0; i + 1 < chart_.marks.size(); ++i) {
      page_.empty("line", {{"class", "line"}, {"x1", x_of(i)}, {"y1", y_of(chart_.marks[i].middle)}, {"x2", x_of(i + 1)}, {"y2", y_of(chart_.marks[i + 1].middle)}});
    }
    for (std::size_t i = 0; i < chart_.marks.size(); ++i) draw_mark(i);
    close_chart(page_);
  }

 private:
  // Marks with is_apart do not count for the scale, unless there are no others.
  static double largest(const std::vector<SpreadMark>& marks) {
    double steady = 0, all = 0;
    for (const SpreadMark& mark : marks) {
      all = std::max(all, mark.highest);
      if (!mark.is_apart) steady = std::max(steady, mark.highest);
    }
    return steady > 0 ? steady : all;
  }
  std::string x_of(std::size_t i) const { return across((static_cast<double>(i) + 0.5) / static_cast<double>(chart_.marks.size())); }
  double y_of(double value) const { return kSpreadBottom - (kSpreadBottom - kSpreadTop) * std::min(value, axis_.most) / axis_.most; }

  void draw_axes() {
    for (const double tick : axis_.ticks) {
      const double y = y_of(tick);
      page_.empty("line", {{"class", "grid"}, {"x1", 0}, {"x2", "100%"}, {"y1", y}, {"y2", y}});
      page_.element("text", {{"class", "tick"}, {"x", -6}, {"y", y + 4}, {"text-anchor", "end"}}, fmt::format("{} {}", axis_.tick_text(tick), axis_.unit));
    }
    const std::size_t every = (chart_.marks.size() + kSpreadNumbers - 1) / kSpreadNumbers;
    for (std::size_t i = 0; i < chart_.marks.size(); i += every) {
      page_.element("text", {{"class", "tick"}, {"x", x_of(i)}, {"y", kSpreadBottom + 15}, {"text-anchor", "middle"}}, chart_.marks[i].label);
    }
    page_.element("text", {{"class", "tick"}, {"x", "50%"}, {"y", kSpreadHeight - 6}, {"text-anchor", "middle"}}, fmt::format("{} by {}", chart_.quantity, chart_.across));
  }

  void draw_mark(std::size_t i) {
    const SpreadMark& mark = chart_.marks[i];
    const std::string x = x_of(i);
    const double top = y_of(mark.highest);
    page_.open("g");
    page_.element("title", mark.text);
    page_.empty("line", {{"class", "range"}, {"x1", x}, {"x2", x}, {"y1", y_of(mark.lowest)}, {"y2", top}});
    page_.empty("circle", {{"class", mark.is_apart ? "dot hollow" : "dot"}, {"cx", x}, {"cy", y_of(mark.middle)}, {"r", 3}});
    if (mark.highest > axis_.most) page_.element("text", {{"class", "above"}, {"x", x}, {"y", top}, {"text-anchor", "middle"}}, "\u25b2");
    page_.close("g");
  }

  Html& page_;
  const SpreadChart& chart_;
  const Axis axis_;
};

}  // namespace

void write_spread(Html& page, const SpreadChart& chart) {
  page.open("figure");
  SpreadDrawing(page, chart).draw();
  page.close("figure");
}

}  // namespace cli
