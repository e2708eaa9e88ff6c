#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/analyze/median.h"
#include "cli/analyze/table_reading.h"
#include "cli/io/units.h"
#include "cli/report/axis.h"
#include "cli/report/step_times.h"

namespace cli {
namespace {

constexpr double kStepWidth = 480, kStepHeight = 220, kStepLeft = 50, kStepRight = 12, kStepTop = 10, kStepBottom = 40;
constexpr std::size_t kMostMarks = 240, kNumbers = 10;

// Of one step, or of several that share a place.
struct StepMark {
  std::int64_t first = 0, last = 0;  // numbers of steps
  double shortest = 0, median = 0, longest = 0;
  bool warm_up = false;
};

std::vector<StepMark> marks_of(const TableReading& steps) {
  std::vector<StepMark> marks;
  const std::size_t each = (steps.rows() + kMostMarks - 1) / kMostMarks;
  for (std::size_t from = 0; from < steps.rows(); from += each) {
    const std::size_t to = std::min(steps.rows(), from + each);
    StepMark mark{steps.number(from, "step"), steps.number(to - 1, "step"), static_cast<double>(steps.number(from, "shortest_ns")), 0, 0, false};
    std::vector<std::int64_t> medians;
    for (std::size_t row = from; row < to; ++row) {
      medians.push_back(steps.number(row, "median_ns"));
      mark.shortest = std::min(mark.shortest, static_cast<double>(steps.number(row, "shortest_ns")));
      mark.longest = std::max(mark.longest, static_cast<double>(steps.number(row, "longest_ns")));
      mark.warm_up = mark.warm_up || steps.get<bool>(row, "warm_up").value_or(false);
    }
    mark.median = static_cast<double>(median(medians));
    marks.push_back(mark);
  }
  return marks;
}

std::string step_text(const StepMark& mark) {
  return fmt::format("{}{}: shortest {}, median {}, longest {}", mark.first == mark.last ? fmt::format("step {}", mark.first) : fmt::format("steps {} to {}", mark.first, mark.last),
                     mark.warm_up ? " (warm-up)" : "", duration_text(static_cast<std::int64_t>(mark.shortest)), duration_text(static_cast<std::int64_t>(mark.median)),
                     duration_text(static_cast<std::int64_t>(mark.longest)));
}

class StepDrawing {
 public:
  StepDrawing(Html& page, const std::vector<StepMark>& marks) : page_(page), marks_(marks), axis_(axis_for(largest(marks), Unit::ns)) {}

  void draw() {
    page_.open("svg", {{"class", "chart"}, {"viewBox", fmt::format("0 0 {} {}", coordinate(kStepWidth), coordinate(kStepHeight))}, {"role", "img"}});
    page_.element("title", "Length of each training step");
    page_.element("desc", "From left to right the steps. A dot is the median over the ranks, joined by a line; a bar goes from the shortest to the longest rank. Warm-up has "
                          "hollow dots, and may leave the chart at its top, where a triangle stands.");
    draw_axes();
    draw_line();
    for (std::size_t i = 0; i < marks_.size(); ++i) draw_mark(i);
    page_.close("svg");
  }

 private:
  // Of steps behind the warm-up, where there are any.
  static double largest(const std::vector<StepMark>& marks) {
    double steady = 0, all = 0;
    for (const StepMark& mark : marks) {
      all = std::max(all, mark.longest);
      if (!mark.warm_up) steady = std::max(steady, mark.longest);
    }
    return steady > 0 ? steady : all;
  }
  double x_of(std::size_t i) const { return kStepLeft + (kStepWidth - kStepLeft - kStepRight) * (static_cast<double>(i) + 0.5) / static_cast<double>(marks_.size()); }
  double y_of(double ns) const { return kStepHeight - kStepBottom - (kStepHeight - kStepBottom - kStepTop) * std::min(ns, axis_.most) / axis_.most; }

  void draw_axes() {
    for (const double tick : axis_.ticks) {
      const double y = y_of(tick);
      page_.empty("line", {{"class", "grid"}, {"x1", kStepLeft}, {"x2", kStepWidth - kStepRight}, {"y1", y}, {"y2", y}});
      page_.element("text", {{"class", "tick"}, {"x", kStepLeft - 6}, {"y", y + 4}, {"text-anchor", "end"}}, axis_.tick_text(tick));
    }
    const double middle = (kStepTop + kStepHeight - kStepBottom) / 2;
    page_.element("text", {{"class", "tick"}, {"x", 12}, {"y", middle}, {"text-anchor", "middle"}, {"transform", fmt::format("rotate(-90 12 {})", coordinate(middle))}},
                  fmt::format("length, {}", axis_.unit));
    const std::size_t every = (marks_.size() + kNumbers - 1) / kNumbers;
    for (std::size_t i = 0; i < marks_.size(); i += every) {
      page_.element("text", {{"class", "tick"}, {"x", x_of(i)}, {"y", kStepHeight - kStepBottom + 15}, {"text-anchor", "middle"}}, fmt::format("{}", marks_[i].first));
    }
    page_.element("text", {{"class", "tick"}, {"x", (kStepLeft + kStepWidth - kStepRight) / 2}, {"y", kStepHeight - 6}, {"text-anchor", "middle"}}, "step");
  }

  void draw_line() {
    std::string points;
    for (std::size_t i = 0; i < marks_.size(); ++i) points += fmt::format("{}{},{}", i == 0 ? "" : " ", coordinate(x_of(i)), coordinate(y_of(marks_[i].median)));
    page_.empty("polyline", {{"class", "line"}, {"points", points}});
  }

  void draw_mark(std::size_t i) {
    const StepMark& mark = marks_[i];
    const double x = x_of(i), top = y_of(mark.longest);
    page_.open("g");
    page_.element("title", step_text(mark));
    page_.empty("line", {{"class", "range"}, {"x1", x}, {"x2", x}, {"y1", y_of(mark.shortest)}, {"y2", top}});
    page_.empty("circle", {{"class", mark.warm_up ? "dot hollow" : "dot"}, {"cx", x}, {"cy", y_of(mark.median)}, {"r", 3}});
    if (mark.longest > axis_.most) page_.empty("path", {{"class", "above"}, {"d", fmt::format("M{} {}l4 7h-8z", coordinate(x), coordinate(top - 6))}});
    page_.close("g");
  }

  Html& page_;
  const std::vector<StepMark>& marks_;
  const Axis axis_;
};

}  // namespace

void write_step_chart(Html& page, const ResultTable& steps) {
  const std::vector<ResultTable> one{steps};
  const std::vector<StepMark> marks = marks_of(TableReading(one, steps.name));
  page.open("figure");
  page.open("div", {{"class", "wide"}});
  StepDrawing(page, marks).draw();
  page.close("div");
  page.close("figure");
}

}  // namespace cli
