// What a person's terminal shows of the text on stdout.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cli {

enum class ColorChoice : std::uint8_t { automatic, always, never };
enum class Color : std::uint8_t { bold, red, yellow, green };

// Before any text is made; not thread-safe. The initial state is that of a program without options.
void set_color(ColorChoice choice);
void set_unlimited_width();
void set_plain();  // the text goes to a file: any width, no colors
void set_quiet();  // print_line() and Progress print nothing

// Columns of the terminal that stdout is; 0: it is none, or lines may have any width.
std::size_t text_width();
bool is_quiet();

// Returns `text` with escape sequences around it if stdout shows colors: it is a terminal and NO_COLOR is not set (no-color.org), or they were
// chosen. The text has passed visible_text().
std::string colored(std::string_view text, Color color);

// Returns how many columns a terminal needs for `text`, which is valid UTF-8 without control characters.
std::size_t columns_of(std::string_view text);

// Returns `text` in at most `columns`, at least 5: what is too long has "..." in its middle.
std::string fitted(std::string_view text, std::size_t columns);

}  // namespace cli
