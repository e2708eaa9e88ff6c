// What parts of a chart look like: a colour and a pattern, so that they differ on paper and to every eye. Colours are those of exports
// (cli/formats/export/chrome_text.h), by the name that Catapult's palette has for them; page/palette.css says what they are in light and in dark.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/formats/export/chrome_text.h"
#include "cli/show/report/html.h"

namespace cli::report {

enum class Fill : std::uint8_t { compute, matmul, communication, exposed, memory, idle, waiting, blocking_copy, after_wait, host_late, launching, queued, unexplained, late_most, late_next, late_third, late_others, forward, backward, optimizer, other, count_ };

// In a legend: "exposed communication".
std::string_view fill_name(Fill fill);

// Of the palette: "good".
std::string_view colour_of(Fill fill);

// For the attribute "fill" of a shape.
std::string paint(Fill fill);

// What paint() refers to: once on the page.
void write_patterns(Html& page);

// The colours of a timeline's slices: by what they are, as exports have them (fills.h, cli/formats/export/chrome_text.h).
enum class SliceColor : std::uint8_t { compute, matmul, comm, exposed, memory, sync, call, cpu_op, range, other };

struct TimelineColor {
  SliceColor color;
  std::string_view word;     // in the page's data
  std::string_view meaning;  // in the legend
  std::optional<Fill> fill;  // that charts have for it, with its pattern
};

inline constexpr std::array<TimelineColor, 10> kTimelineColors{{
    {SliceColor::compute, "compute", "compute kernel", Fill::compute},
    {SliceColor::matmul, "matmul", "matrix multiplication", Fill::matmul},
    {SliceColor::comm, "comm", "communication", Fill::communication},
    {SliceColor::exposed, "exposed", "exposed communication", Fill::exposed},
    {SliceColor::memory, "memory", "copy or memset", Fill::memory},
    {SliceColor::sync, "sync", "synchronization", std::nullopt},
    {SliceColor::call, "call", "CUDA call", std::nullopt},
    {SliceColor::cpu_op, "operator", "operator", std::nullopt},
    {SliceColor::range, "range", "range", std::nullopt},
    {SliceColor::other, "other", "other", std::nullopt},
}};

constexpr const TimelineColor& timeline_color(SliceColor color) { return kTimelineColors[static_cast<std::size_t>(color)]; }

// Of palette.css.
inline std::string_view palette_name(const TimelineColor& color) {
  if (color.fill) return colour_of(*color.fill);
  switch (color.color) {
    case SliceColor::sync:
      return chrome_color(Kind::sync, {});
    case SliceColor::cpu_op:
      return "teal";
    case SliceColor::range:
      return "purple";
    case SliceColor::call:
      return "grey";
    default:
      return "black";
  }
}

}  // namespace cli::report
