// Width and colors of text on a terminal.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cli {

enum class ColorChoice : std::uint8_t { automatic, always, never };
enum class Color : std::uint8_t { bold, red, yellow, green };

// Call these before any text is made. They are not thread-safe.
void set_color(ColorChoice choice);
void set_unlimited_width();
void set_plain();  // for text that goes to a file: any width, no colors
void set_quiet();  // print_line() and Progress print nothing

// Returns the width of the terminal in columns, or 0 if stdout is no terminal or lines may have any width.
std::size_t text_width();
bool is_quiet();

// Returns `text` in a color if stdout is a terminal and NO_COLOR is not set (no-color.org), or if set_color() chose colors. Pass text through
// visible_text() first.
std::string colored(std::string_view text, Color color);

// Returns how many columns a terminal needs for `text`, which is valid UTF-8 without control characters.
std::size_t columns_of(std::string_view text);

// Returns `text` with at most `columns` columns. Replaces the middle by "..." if it is longer. `columns` is at least 5.
std::string fitted(std::string_view text, std::size_t columns);

}  // namespace cli
