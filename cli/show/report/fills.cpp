#include "cli/show/report/fills.h"

#include <fmt/format.h>

#include <array>

#include "cli/formats/export/chrome_text.h"

namespace cli::report {

namespace {

enum class Pattern : std::uint8_t {
  solid,
  rising,
  falling,
  crossed,
  dots,
  rows,
  columns,
  grid,
  wide_rising,
  wide_falling,
  wide_dots,
  wide_rows,
  wide_columns,
  wide_grid
};

// Fills in one chart have different patterns; fills that are never in one chart may share one.
Pattern pattern_of(Fill fill) {
  switch (fill) {
    case Fill::compute:
    case Fill::forward:
      return Pattern::solid;
    case Fill::exposed:
      return Pattern::rising;
    case Fill::communication:
    case Fill::host_late:
      return Pattern::falling;
    case Fill::matmul:
    case Fill::late_next:
    case Fill::backward:
      return Pattern::crossed;
    case Fill::memory:
    case Fill::optimizer:
      return Pattern::dots;
    case Fill::idle:
    case Fill::queued:
    case Fill::other:
      return Pattern::rows;
    case Fill::launching:
      return Pattern::columns;
    case Fill::late_most:
      return Pattern::wide_rising;
    case Fill::late_third:
      return Pattern::wide_columns;
    case Fill::late_others:
      return Pattern::wide_dots;
    case Fill::waiting:
      return Pattern::wide_falling;
    case Fill::blocking_copy:
      return Pattern::wide_grid;
    case Fill::after_wait:
      return Pattern::wide_rows;
    case Fill::unexplained:
    case Fill::count_:
      break;
  }
  return Pattern::grid;
}

std::string pattern_id(Fill fill) { return fmt::format("fill-{}", static_cast<unsigned>(fill)); }

int tile_of(Pattern pattern) { return pattern >= Pattern::wide_rising ? 12 : 6; }

// Returns the same pattern with narrow marks.
Pattern marks_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::wide_rising:
      return Pattern::rising;
    case Pattern::wide_falling:
      return Pattern::falling;
    case Pattern::wide_dots:
      return Pattern::dots;
    case Pattern::wide_rows:
      return Pattern::rows;
    case Pattern::wide_columns:
      return Pattern::columns;
    case Pattern::wide_grid:
      return Pattern::grid;
    default:
      return pattern;
  }
}

bool is_turned(Pattern marks) {
  return marks == Pattern::rising || marks == Pattern::falling || marks == Pattern::crossed;
}

void write_marks(Html& page, Pattern marks, int tile) {
  const auto line = [&](int x1, int y1, int x2, int y2) {
    page.empty("line", {{"x1", x1}, {"y1", y1}, {"x2", x2}, {"y2", y2}, {"class", "mark"}});
  };
  const int middle = tile / 2;
  if (marks == Pattern::rising || marks == Pattern::crossed) line(0, 0, 0, tile);
  if (marks == Pattern::falling || marks == Pattern::crossed) line(0, 0, tile, 0);
  if (marks == Pattern::rows || marks == Pattern::grid) line(0, middle, tile, middle);
  if (marks == Pattern::columns || marks == Pattern::grid) line(middle, 0, middle, tile);
  if (marks == Pattern::dots)
    page.empty("circle", {{"cx", middle}, {"cy", middle}, {"r", 0.2 * tile}, {"class", "mark"}});
}

}  // namespace

std::string_view fill_name(Fill fill) {
  static constexpr std::array<std::string_view, static_cast<std::size_t>(Fill::count_)> kNames{
      "compute",
      "matrix multiplications",
      "communication",
      "exposed communication",
      "copies and memsets",
      "idle",
      "host in a synchronization",
      "host in a blocking copy",
      "host after a synchronization",
      "host late",
      "launching",
      "launched, not begun",
      "unexplained",
      "waiting for the latest rank",
      "waiting for the next rank",
      "waiting for a third rank",
      "waiting for other ranks",
      "forward",
      "backward",
      "optimizer",
      "other"};
  return kNames[static_cast<std::size_t>(fill)];
}

std::string_view colour_of(Fill fill) {
  switch (fill) {
    case Fill::compute:
    case Fill::forward:
      return "blue";  // exports leave the color to the viewer
    case Fill::matmul:
      return chrome_color(Kind::kernel, "gemm");
    case Fill::communication:
      return chrome_color(Kind::nccl, {});
    case Fill::exposed:
    case Fill::late_most:
    case Fill::late_next:
    case Fill::late_third:
    case Fill::late_others:
      return chrome_color(DerivedTrack::exposed_comm);
    case Fill::memory:
    case Fill::blocking_copy:
      return chrome_color(Kind::memcpy, {});
    case Fill::waiting:
    case Fill::after_wait:
      return chrome_color(Kind::sync, {});
    case Fill::launching:
    case Fill::optimizer:
      return "teal";
    case Fill::host_late:
    case Fill::backward:
      return "purple";
    default:
      return chrome_color(DerivedTrack::idle);
  }
}

std::string paint(Fill fill) { return fmt::format("url(#{})", pattern_id(fill)); }

void write_patterns(Html& page) {
  page.open("svg", {{"width", 0}, {"height", 0}, {"class", "patterns"}, {"aria-hidden", "true"}});
  page.open("defs");
  for (std::size_t i = 0; i < static_cast<std::size_t>(Fill::count_); ++i) {
    const auto fill = static_cast<Fill>(i);
    const Pattern pattern = pattern_of(fill), marks = marks_of(pattern);
    const int tile = tile_of(pattern);
    page.open("pattern", {{"id", pattern_id(fill)},
                          {"width", tile},
                          {"height", tile},
                          {"patternUnits", "userSpaceOnUse"},
                          {"patternTransform", is_turned(marks) ? "rotate(45)" : "rotate(0)"}});
    page.empty("rect", {{"width", tile}, {"height", tile}, {"class", colour_of(fill)}});
    write_marks(page, marks, tile);
    page.close("pattern");
  }
  page.close("defs");
  page.close("svg");
}

}  // namespace cli::report
