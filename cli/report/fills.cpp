#include "cli/report/fills.h"

#include <fmt/format.h>

#include <array>

#include "cli/export/chrome_colors.h"

namespace cli {
namespace {

enum class Pattern : std::uint8_t { solid, rising, falling, crossed, dots, rows, columns, grid };

// Two fills of one chart have two patterns; fills that no chart has together may share one.
Pattern pattern_of(Fill fill) {
  switch (fill) {
    case Fill::compute:
    case Fill::after_wait:
    case Fill::late_most:
    case Fill::forward:
      return Pattern::solid;
    case Fill::exposed:
    case Fill::waiting:
      return Pattern::rising;
    case Fill::communication:
    case Fill::host_late:
      return Pattern::falling;
    case Fill::matmul:
    case Fill::late_next:
    case Fill::backward:
      return Pattern::crossed;
    case Fill::memory:
    case Fill::blocking_copy:
    case Fill::late_others:
    case Fill::optimizer:
      return Pattern::dots;
    case Fill::idle:
    case Fill::queued:
    case Fill::other:
      return Pattern::rows;
    case Fill::launching:
      return Pattern::columns;
    case Fill::unexplained:
    case Fill::late_third:
    case Fill::count_:
      break;
  }
  return Pattern::grid;
}

std::string pattern_id(Fill fill) { return fmt::format("fill-{}", static_cast<unsigned>(fill)); }

void write_mark(Html& page, Pattern pattern) {
  const auto line = [&](int x1, int y1, int x2, int y2) { page.empty("line", {{"x1", x1}, {"y1", y1}, {"x2", x2}, {"y2", y2}, {"class", "mark"}}); };
  if (pattern == Pattern::rising || pattern == Pattern::crossed) line(0, 0, 0, 6);
  if (pattern == Pattern::falling || pattern == Pattern::crossed) line(0, 0, 6, 0);
  if (pattern == Pattern::rows || pattern == Pattern::grid) line(0, 3, 6, 3);
  if (pattern == Pattern::columns || pattern == Pattern::grid) line(3, 0, 3, 6);
  if (pattern == Pattern::dots) page.empty("circle", {{"cx", 3}, {"cy", 3}, {"r", 1.2}, {"class", "mark"}});
}

}  // namespace

std::string_view fill_name(Fill fill) {
  static constexpr std::array<std::string_view, static_cast<std::size_t>(Fill::count_)> kNames{
      "compute", "matrix products", "communication", "exposed communication", "copies and memsets", "idle", "host in a synchronization", "host in a copy that blocks",
      "host after a synchronization", "host late", "launching", "launched, not begun", "unexplained",
      "waiting for the latest rank", "waiting for the next rank", "waiting for a third rank", "waiting for other ranks", "forward", "backward", "optimizer", "other"};
  return kNames[static_cast<std::size_t>(fill)];
}

std::string_view colour_of(Fill fill) {
  switch (fill) {
    case Fill::compute:
    case Fill::forward:
      return "blue";  // exports leave it to the viewer
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
    const Pattern pattern = pattern_of(fill);
    const bool turned = pattern == Pattern::rising || pattern == Pattern::falling || pattern == Pattern::crossed;
    page.open("pattern", {{"id", pattern_id(fill)}, {"width", 6}, {"height", 6}, {"patternUnits", "userSpaceOnUse"}, {"patternTransform", turned ? "rotate(45)" : "rotate(0)"}});
    page.empty("rect", {{"width", 6}, {"height", 6}, {"class", colour_of(fill)}});
    write_mark(page, pattern);
    page.close("pattern");
  }
  page.close("defs");
  page.close("svg");
}

}  // namespace cli
