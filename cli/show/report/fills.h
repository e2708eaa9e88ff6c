// What parts of a chart look like: a colour and a pattern, so that they differ on paper and to every eye. Colours are those of exports
// (export/chrome_colors.h), by the name that Catapult's palette has for them; page/palette.css says what they are in light and in dark.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/show/report/html.h"

namespace cli {

enum class Fill : std::uint8_t { compute, matmul, communication, exposed, memory, idle, waiting, blocking_copy, after_wait, host_late, launching, queued, unexplained, late_most, late_next, late_third, late_others, forward, backward, optimizer, other, count_ };

// In a legend: "exposed communication".
std::string_view fill_name(Fill fill);

// Of the palette: "good".
std::string_view colour_of(Fill fill);

// For the attribute "fill" of a shape.
std::string paint(Fill fill);

// What paint() refers to: once on the page.
void write_patterns(Html& page);

}  // namespace cli
