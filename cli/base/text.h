// Formats amounts and untrusted names for people, and quotes words for shells.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace cli {

// ASCII classification, independent of the locale.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_json_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Names of kernels, hosts, runs and files are untrusted input. All text for people passes through here, so that no name
// controls the terminal, changes the text direction or forges a line.

// Returns `text` as one printable line. Control characters become \n, \r, \t or \x1b, bytes of invalid UTF-8 become
// \xff, and misleading_code_point characters become \u202e. All other characters, including backslashes, are kept.
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

// Quoting for POSIX shells.

// Returns `word` unchanged if it needs no quoting, else in single quotes. A word that visible_text would change is
// written as $'...' with octal escapes, which bash, zsh and POSIX.1-2024 support. An older sh reads another word, but
// still executes no part of it.
std::string shell_word(std::string_view word);

// Formats amounts for people.
std::string duration_text(std::int64_t ns);   // four digits: "3.2 days", "19.4 h", "1.234 s", "56.70 ms", "890 ns"
std::string bytes_text(std::uint64_t bytes);  // "1.5 GiB"
std::string time_text(std::int64_t ns);       // ns since 1970: "2026-11-21 23:19:02 UTC"
std::string count_text(std::uint64_t count, std::string_view singular, std::string_view plural = "");  // "1 process"

}  // namespace cli
