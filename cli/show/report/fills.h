// Fills of chart parts: a color and a pattern, so that they differ on paper and for color-blind readers. Colors have
// the names of Catapult's palette and are those of exports (cli/formats/export/chrome_text.h). page/palette.css defines
// them for light and dark mode.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/show/report/html.h"

namespace cli::report {

enum class Fill : std::uint8_t {
  compute,
  matmul,
  communication,
  exposed,
  memory,
  idle,
  waiting,
  blocking_copy,
  after_wait,
  host_late,
  launching,
  queued,
  unexplained,
  late_most,
  late_next,
  late_third,
  late_others,
  forward,
  backward,
  optimizer,
  other,
  count_
};

// A column of a table, as a part of a bar.
struct ColumnFill {
  const char* key;
  Fill fill;
};

// The columns of the table idle that add up to the idle time.
inline constexpr std::array kIdleFills{
    ColumnFill{"sync_ns", Fill::waiting},           ColumnFill{"copy_ns", Fill::blocking_copy},
    ColumnFill{"after_sync_ns", Fill::after_wait},  ColumnFill{"host_late_ns", Fill::host_late},
    ColumnFill{"launch_ns", Fill::launching},       ColumnFill{"queued_ns", Fill::queued},
    ColumnFill{"unexplained_ns", Fill::unexplained}};

// Returns the text of the legend: "exposed communication".
std::string_view fill_name(Fill fill);

// Returns the color's name in the palette: "good".
std::string_view colour_of(Fill fill);

// Returns the "fill" attribute of a shape.
std::string paint(Fill fill);

// Writes the patterns that paint() refers to. Call it once per page.
void write_patterns(Html& page);

// Colors of timeline slices by kind, as in exports (fills.h, cli/formats/export/chrome_text.h).
enum class SliceColor : std::uint8_t { compute, matmul, comm, exposed, memory, sync, call, cpu_op, range, other };

struct TimelineColor {
  std::string_view word;      // name in the page's data
  std::string_view meaning;   // text in the legend
  std::optional<Fill> fill;   // the charts' fill, including its pattern, for the same thing
  std::string_view own = {};  // color without a fill

  // Returns the name in palette.css.
  std::string_view palette() const { return fill ? colour_of(*fill) : own; }
};

// Has the order of SliceColor.
const std::array<TimelineColor, 10>& timeline_colors();

}  // namespace cli::report
