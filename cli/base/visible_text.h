// Names of kernels, hosts, runs and files are untrusted input. All text for people passes through here, so that no name controls the
// terminal, changes the text direction or forges a line.
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace cli {

// Returns `text` as one printable line. Control characters become \n, \r, \t or \x1b, bytes of invalid UTF-8 become \xff, and
// misleading_code_point characters become \u202e. All other characters, including backslashes, are kept.
std::string visible_text(std::string_view text);

// Appends `text` as one line.
void add_line(std::string& out, std::string_view text);
template <typename First, typename... More>
void add_line(std::string& out, fmt::format_string<First, More...> form, First&& first, More&&... more) {
  add_line(out, fmt::format(form, std::forward<First>(first), std::forward<More>(more)...));
}

// Prints `text` as one line on stderr, unless --quiet is set. Write errors are ignored.
void print_line(std::string_view text);
void print_error(std::string_view text);  // also with --quiet
template <typename First, typename... More>
void print_line(fmt::format_string<First, More...> form, First&& first, More&&... more) {
  print_line(fmt::format(form, std::forward<First>(first), std::forward<More>(more)...));
}

}  // namespace cli
