// Names of kernels, hosts, runs and files are what strangers wrote. Text for people passes here, so that no name commands the terminal,
// turns the direction of text or begins a line.
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace cli {

// `text` in one line of characters that can be seen: control characters as \n, \r, \t or \x1b, bytes that are not part of valid UTF-8
// as \xff, the characters of misleading_code_point as \u202e. All others are left as they are, also a backslash.
std::string visible_text(std::string_view text);

// Appends `text` as a line.
void add_line(std::string& out, std::string_view text);
template <typename First, typename... More>
void add_line(std::string& out, fmt::format_string<First, More...> form, First&& first, More&&... more) {
  add_line(out, fmt::format(form, std::forward<First>(first), std::forward<More>(more)...));
}

// Prints `text` as a line on stderr; what a full or closed stderr does not take is lost.
void print_line(std::string_view text);
template <typename First, typename... More>
void print_line(fmt::format_string<First, More...> form, First&& first, More&&... more) {
  print_line(fmt::format(form, std::forward<First>(first), std::forward<More>(more)...));
}

}  // namespace cli
