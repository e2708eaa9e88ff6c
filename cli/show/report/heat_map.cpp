#include "cli/show/report/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/show/report/bar_chart.h"
#include "cli/show/report/chart.h"

namespace cli {
namespace {

constexpr double kFieldTop = 22, kFieldHeight = 22, kApart = 6;
constexpr int kShades = 5, kDarkShade = 3;  // text is light from this shade on
constexpr std::size_t kColumnNames = 20;

// Returns the shade, from 0 to kShades.
int shade_of(double heat) { return std::min(kShades, static_cast<int>(std::lround(std::abs(heat) * kShades))); }

class HeatDrawing {
 public:
  HeatDrawing(Html& page, const HeatMap& map) : page_(page), map_(map), width_(1.0 / static_cast<double>(map.columns.size())) {}

  void draw() {
    double height = kFieldTop + 4;
    std::size_t letters = 4;
    for (const HeatRow& row : map_.rows) {
      height += kFieldHeight + (row.is_apart ? kApart : 0);
      letters = std::max(letters, row.label.size());
    }
    open_chart(page_, {map_.title, map_.description, height, letters});
    draw_head();
    double y = kFieldTop;
    for (const HeatRow& row : map_.rows) {
      if (row.is_apart) {
        page_.empty("line", {{"class", "grid"}, {"x1", 0}, {"x2", "100%"}, {"y1", y + kApart / 2 - 1}, {"y2", y + kApart / 2 - 1}});
        y += kApart;
      }
      draw_row(row, y);
      y += kFieldHeight;
    }
    close_chart(page_);
  }

 private:
  double left_of(std::size_t column) const { return width_ * static_cast<double>(column); }

  void draw_head() {
    const std::size_t every = (map_.columns.size() + kColumnNames - 1) / kColumnNames;
    for (std::size_t i = 0; i < map_.columns.size(); i += every) {
      open_box(page_, "box", left_of(i), width_ * static_cast<double>(every), kFieldTop - 20, 18);
      page_.element("title", map_.columns[i]);
      page_.element("text", {{"class", map_.culprits.contains(i) ? "culprit" : "tick"}, {"x", "50%"}, {"y", 13}, {"text-anchor", "middle"}}, map_.columns[i]);
      close_box(page_);
    }
  }

  void draw_row(const HeatRow& row, double y) {
    page_.element("text", {{"x", -6}, {"y", y + kFieldHeight - 7}, {"text-anchor", "end"}}, label_end(row.label, kMostGutterLetters));
    for (std::size_t i = 0; i < row.fields.size(); ++i) {
      if (row.fields[i]) draw_field(*row.fields[i], i, y);
    }
  }

  void draw_field(const HeatField& field, std::size_t column, double y) {
    const int shade = shade_of(field.heat);
    const std::string css_class = fmt::format("field{} shade-{}", field.heat < 0 ? " little" : "", shade);
    const bool has_text = map_.columns.size() <= kMostTextColumns;
    open_box(page_, "box", left_of(column), width_, y, kFieldHeight - 2);
    page_.element("title", field.title);
    page_.empty("rect", {{"class", css_class}, {"width", "100%"}, {"height", "100%"}});
    if (has_text) page_.element("text", {{"class", shade >= kDarkShade ? "on-dark" : "on-light"}, {"x", "50%"}, {"y", kFieldHeight - 7}, {"text-anchor", "middle"}}, field.text);
    close_box(page_);
  }

  Html& page_;
  const HeatMap& map_;
  const double width_;
};

}  // namespace

void write_heat_map(Html& page, const HeatMap& map) {
  page.open("figure");
  page.element("p", {{"class", "caption"}}, map.columns_are);
  HeatDrawing(page, map).draw();
  page.close("figure");
}

}  // namespace cli
