#include "cli/show/report/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "cli/answers/tables/write_tables.h"
#include "cli/show/report/axis.h"
#include "cli/show/report/chart.h"

namespace cli {
namespace {

constexpr double kTop = 6, kBar = 14, kGap = 5, kLabel = 15, kAxis = 34, kSwatch = 12;

std::string value_text(double value, Unit unit) {
  if (unit == Unit::percent || unit == Unit::rate) return cell_text(value, unit) + (unit == Unit::rate ? " GB/s" : "");
  return cell_text(static_cast<std::int64_t>(std::llround(value)), unit);
}

std::string bar_text(const BarChart& chart, const Bar& bar) {
  std::string text = bar.label + ":";
  for (std::size_t i = 0; i < chart.parts.size(); ++i) {
    text += fmt::format("{} {}{}", i == 0 ? "" : ",", chart.parts[i].label.empty() ? "" : chart.parts[i].label + " ", value_text(bar.values[i], chart.unit));
  }
  return text;
}

// Of what stands alone, or comes first where there is more behind it.
double bar_value(const Bar& bar) {
  const auto first = std::find_if(bar.values.begin(), bar.values.end(), [](double value) { return value > 0; });
  return first == bar.values.end() ? 0.0 : *first;
}

bool has_ascending_ranks(const std::vector<Bar>& bars) {
  const auto is_no_later = [](const Bar& a, const Bar& b) { return a.rank >= b.rank; };
  return bars.front().rank >= 0 && std::adjacent_find(bars.begin(), bars.end(), is_no_later) == bars.end();
}

// Of neighbours: "ranks 0-7" by rank, else "rank 0 GPU 0 to 2", "rank 0 GPU 7 to rank 1 GPU 1".
std::string group_label(std::span<const Bar> bars, bool by_rank) {
  const Bar &first = bars.front(), &last = bars.back();
  if (bars.size() == 1 || first.label == last.label) return first.label;
  if (by_rank) return fmt::format("ranks {}-{}", first.rank, last.rank);
  const std::size_t word = last.label.rfind(' ') + 1;
  const bool same_before = word > 0 && first.label.rfind(' ') + 1 == word && first.label.compare(0, word, last.label, 0, word) == 0;
  return fmt::format("{} to {}", first.label, same_before ? last.label.substr(word) : last.label);
}

class BarDrawing {
 public:
  BarDrawing(Html& page, const BarChart& chart) : page_(page), chart_(chart), axis_(axis_for(largest(chart), chart.unit)) {
    row_ = kBar + kGap + (chart.labels_above ? kLabel : 0);
    bottom_ = kTop + row_ * static_cast<double>(chart.bars.size());
  }

  void draw() {
    open_chart(page_, {chart_.title, chart_.description, bottom_ + kAxis, chart_.labels_above ? 0 : longest_label()});
    draw_axis();
    double y = kTop;
    for (const Bar& bar : chart_.bars) {
      draw_bar(bar, y);
      y += row_;
    }
    close_chart(page_);
  }

 private:
  static double largest(const BarChart& chart) {
    double most = 0;
    for (const Bar& bar : chart.bars) most = std::max(most, std::accumulate(bar.values.begin(), bar.values.end(), 0.0));
    return most;
  }
  std::size_t longest_label() const {
    std::size_t most = 4;
    for (const Bar& bar : chart_.bars) most = std::max(most, bar.label.size());
    return most;
  }

  void draw_axis() {
    for (const double tick : axis_.ticks) {
      const std::string x = across(tick / axis_.most);
      page_.empty("line", {{"class", "grid"}, {"x1", x}, {"x2", x}, {"y1", kTop}, {"y2", bottom_}});
      page_.element("text", {{"class", "tick"}, {"x", x}, {"y", bottom_ + 13}, {"text-anchor", tick == 0 ? "start" : tick == axis_.most ? "end" : "middle"}}, axis_.tick_text(tick));
    }
    page_.element("text", {{"class", "tick"}, {"x", "50%"}, {"y", bottom_ + 28}, {"text-anchor", "middle"}},
                  axis_.unit.empty() ? chart_.quantity : fmt::format("{}, {}", chart_.quantity, axis_.unit));
  }

  void draw_bar(const Bar& bar, double y) {
    page_.open("g");
    page_.element("title", bar_text(chart_, bar));
    if (chart_.labels_above) {
      page_.element("text", {{"class", "name"}, {"x", 0}, {"y", y + kLabel - 4}}, shortened_text(bar.label, kMostLetters) + ": " + value_text(bar_value(bar), chart_.unit));
      y += kLabel;
    } else {
      page_.element("text", {{"x", -6}, {"y", y + kBar - 3}, {"text-anchor", "end"}}, label_end(bar.label, kMostGutterLetters));
    }
    double sum = 0;
    for (std::size_t i = 0; i < chart_.parts.size(); ++i) {
      const double from = sum / axis_.most, to = (sum += bar.values[i]) / axis_.most;
      if (bar.values[i] <= 0) continue;
      page_.empty("rect", {{"x", across(from)}, {"y", y}, {"width", across(std::max(to - from, 0.0002))}, {"height", kBar}, {"fill", paint(chart_.parts[i].fill)}});
    }
    page_.close("g");
  }

  Html& page_;
  const BarChart& chart_;
  const Axis axis_;
  double row_ = 0, bottom_ = 0;
};

// Parts without a bar appear only in the table.
bool is_drawn(const BarChart& chart, std::size_t part) {
  return std::any_of(chart.bars.begin(), chart.bars.end(), [&](const Bar& bar) { return bar.values[part] > 0; });
}

void write_legend(Html& page, const BarChart& chart) {
  if (chart.parts.size() < 2) return;
  page.open("p", {{"class", "legend"}});
  for (std::size_t i = 0; i < chart.parts.size(); ++i) {
    if (!is_drawn(chart, i)) continue;
    page.open("span");
    write_swatch(page, chart.parts[i].fill);
    page.text(" " + chart.parts[i].label);
    page.close("span");
    page.text(" ");
  }
  page.close("p");
}

}  // namespace

void write_swatch(Html& page, Fill fill) {
  page.open("svg", {{"class", "swatch"}, {"width", kSwatch}, {"height", kSwatch}, {"aria-hidden", "true"}});
  page.empty("rect", {{"width", kSwatch}, {"height", kSwatch}, {"fill", paint(fill)}});
  page.close("svg");
}

std::string label_end(const std::string& label, std::size_t most) {
  if (label.size() <= most) return label;
  std::size_t from = label.size() - (most - 3);
  while (from < label.size() && (static_cast<unsigned char>(label[from]) & 0xc0) == 0x80) ++from;  // not within a character
  return "..." + label.substr(from);
}

void write_bars(Html& page, const BarChart& chart) {
  page.open("figure");
  if (!chart.note.empty()) page.element("p", {{"class", "caption"}}, chart.note);
  write_legend(page, chart);
  BarDrawing(page, chart).draw();
  page.close("figure");
}

std::vector<Bar> grouped(std::vector<Bar> bars) {
  if (bars.size() <= kMostBars) return bars;
  const std::size_t each = (bars.size() + kMostBars - 1) / kMostBars;
  const bool by_rank = has_ascending_ranks(bars);
  std::vector<Bar> groups;
  for (std::size_t from = 0; from < bars.size(); from += each) {
    const std::size_t to = std::min(bars.size(), from + each);
    Bar group{group_label({bars.begin() + static_cast<std::ptrdiff_t>(from), bars.begin() + static_cast<std::ptrdiff_t>(to)}, by_rank), std::vector<double>(bars[from].values.size())};
    for (std::size_t i = from; i < to; ++i) {
      for (std::size_t part = 0; part < group.values.size(); ++part) group.values[part] += bars[i].values[part] / static_cast<double>(to - from);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace cli
