#include "cli/show/report/fills.h"

#include <fmt/format.h>

#include "cli/formats/export/chrome_text.h"

namespace cli::report {

namespace {

enum class Marks : std::uint8_t { none, rising, falling, crossed, dots, rows, columns, grid };

struct FillLook {
  std::string_view name, colour;
  Marks marks;
  bool is_wide = false;
};

// Fills in one chart have different patterns; fills that are never in one chart may share one.
const FillLook& look_of(Fill fill) {
  static const std::string_view blue = "blue";  // exports leave the color to the viewer
  static const std::string_view matmul = chrome_color(Kind::kernel, "gemm"), comm = chrome_color(Kind::nccl, {}),
                                memory = chrome_color(Kind::memcpy, {}), sync = chrome_color(Kind::sync, {}),
                                exposed = chrome_color(DerivedTrack::exposed_comm),
                                idle = chrome_color(DerivedTrack::idle);
  static const std::array<FillLook, static_cast<std::size_t>(Fill::count_)> looks{{
      {"compute", blue, Marks::none},
      {"matrix multiplications", matmul, Marks::crossed},
      {"communication", comm, Marks::falling},
      {"exposed communication", exposed, Marks::rising},
      {"copies and memsets", memory, Marks::dots},
      {"idle", idle, Marks::rows},
      {"host in a synchronization", sync, Marks::falling, true},
      {"host in a blocking copy", memory, Marks::grid, true},
      {"host after a synchronization", sync, Marks::rows, true},
      {"host late", "purple", Marks::falling},
      {"launching", "teal", Marks::columns},
      {"launched, not begun", idle, Marks::rows},
      {"unexplained", idle, Marks::grid},
      {"waiting for the latest rank", exposed, Marks::rising, true},
      {"waiting for the next rank", exposed, Marks::crossed},
      {"waiting for a third rank", exposed, Marks::columns, true},
      {"waiting for other ranks", exposed, Marks::dots, true},
      {"forward", blue, Marks::none},
      {"backward", "purple", Marks::crossed},
      {"optimizer", "teal", Marks::dots},
      {"other", idle, Marks::rows},
  }};
  return looks[static_cast<std::size_t>(fill)];
}

std::string pattern_id(Fill fill) { return fmt::format("fill-{}", static_cast<unsigned>(fill)); }

void write_marks(Html& page, Marks marks, int tile) {
  const auto line = [&](int x1, int y1, int x2, int y2) {
    page.empty("line", {{"x1", x1}, {"y1", y1}, {"x2", x2}, {"y2", y2}, {"class", "mark"}});
  };
  const int middle = tile / 2;
  if (marks == Marks::rising || marks == Marks::crossed) line(0, 0, 0, tile);
  if (marks == Marks::falling || marks == Marks::crossed) line(0, 0, tile, 0);
  if (marks == Marks::rows || marks == Marks::grid) line(0, middle, tile, middle);
  if (marks == Marks::columns || marks == Marks::grid) line(middle, 0, middle, tile);
  if (marks == Marks::dots)
    page.empty("circle", {{"cx", middle}, {"cy", middle}, {"r", 0.2 * tile}, {"class", "mark"}});
}

}  // namespace

std::string_view fill_name(Fill fill) { return look_of(fill).name; }

std::string_view colour_of(Fill fill) { return look_of(fill).colour; }

std::string paint(Fill fill) { return fmt::format("url(#{})", pattern_id(fill)); }

void write_patterns(Html& page) {
  const Element in_svg(page, "svg", {{"width", 0}, {"height", 0}, {"class", "patterns"}, {"aria-hidden", "true"}});
  const Element in_defs(page, "defs");
  for (std::size_t i = 0; i < static_cast<std::size_t>(Fill::count_); ++i) {
    const auto fill = static_cast<Fill>(i);
    const FillLook& look = look_of(fill);
    const bool is_turned = look.marks == Marks::rising || look.marks == Marks::falling || look.marks == Marks::crossed;
    const int tile = look.is_wide ? 12 : 6;
    const Element in_pattern(page, "pattern",
                             {{"id", pattern_id(fill)},
                              {"width", tile},
                              {"height", tile},
                              {"patternUnits", "userSpaceOnUse"},
                              {"patternTransform", is_turned ? "rotate(45)" : "rotate(0)"}});
    page.empty("rect", {{"width", tile}, {"height", tile}, {"class", look.colour}});
    write_marks(page, look.marks, tile);
  }
}

const std::array<TimelineColor, 10>& timeline_colors() {
  static const std::array<TimelineColor, 10> colors{{
      {"compute", "compute kernel", Fill::compute},
      {"matmul", "matrix multiplication", Fill::matmul},
      {"comm", "communication", Fill::communication},
      {"exposed", "exposed communication", Fill::exposed},
      {"memory", "copy or memset", Fill::memory},
      {"sync", "synchronization", std::nullopt, chrome_color(Kind::sync, {})},
      {"call", "CUDA call", std::nullopt, "grey"},
      {"operator", "operator", std::nullopt, "teal"},
      {"range", "range", std::nullopt, "purple"},
      {"other", "other", std::nullopt, "black"},
  }};
  return colors;
}

}  // namespace cli::report
