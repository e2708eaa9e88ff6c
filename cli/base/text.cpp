#include "cli/base/text.h"

#include <fmt/compile.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <limits>

#include "cli/base/terminal.h"
#include "common/utf8.h"

namespace cli {

namespace {

bool is_plain(char c) { return c >= ' ' && c <= '~'; }

void add_byte(std::string& out, unsigned char byte) {
  constexpr std::string_view kNamed = "\t\n\r", kLetters = "tnr";
  const std::size_t named = kNamed.find(static_cast<char>(byte));
  out += named != kNamed.npos ? std::string{'\\', kLetters[named]} : fmt::format("\\x{:02x}", byte);
}

// Four significant digits of ns / unit_ns, rounded. Integers, because exports write many of these.
std::string four_digits(std::int64_t ns, std::int64_t unit_ns) {
  constexpr std::int64_t kFiveDigits = 10'000;
  std::int64_t step_ns = unit_ns / 1'000;
  const auto rounded = [&] { return (ns + step_ns / 2) / step_ns; };
  if (rounded() < kFiveDigits) return fmt::format(FMT_COMPILE("{}.{:03}"), rounded() / 1'000, rounded() % 1'000);
  step_ns *= 10;
  if (rounded() < kFiveDigits) return fmt::format(FMT_COMPILE("{}.{:02}"), rounded() / 100, rounded() % 100);
  step_ns *= 10;
  if (rounded() < kFiveDigits) return fmt::format(FMT_COMPILE("{}.{}"), rounded() / 10, rounded() % 10);
  step_ns *= 10;
  return fmt::format(FMT_COMPILE("{}"), rounded());
}

}  // namespace

std::string visible_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto stop = std::ranges::find_if_not(text, is_plain);
    out.append(text.begin(), stop);
    text.remove_prefix(static_cast<std::size_t>(stop - text.begin()));
    if (text.empty()) break;
    const auto* at = reinterpret_cast<const unsigned char*>(text.data());
    const std::size_t length = trace::utf8_length(at, text.size());
    if (const std::uint32_t code = trace::misleading_code_point(at, length); code != 0) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
    } else if (length > 0) {
      out += text.substr(0, length);
    } else {
      add_byte(out, *at);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

void add_line(std::string& out, std::string_view text) { out.append(visible_text(text)).append("\n"); }

void print_line(std::string_view text) {
  if (!is_quiet()) print_error(text);
}

void print_error(std::string_view text) { std::fputs((visible_text(text) + '\n').c_str(), stderr); }

std::string shell_word(std::string_view word) {
  const bool plain =
      word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,+:@%") ==
      std::string_view::npos;
  if (plain && !word.empty()) return std::string(word);
  const bool is_visible = visible_text(word) == word;
  std::string out = is_visible ? "'" : "$'";
  for (const char c : word) {
    if (is_visible) {
      out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    } else {
      const bool is_itself = c >= ' ' && c <= '~' && c != '\'' && c != '\\';
      out += is_itself ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
  }
  return out + "'";
}

std::string duration_text(std::int64_t ns) {
  if (ns < 0)
    return "-" + duration_text(ns == std::numeric_limits<std::int64_t>::min() ? std::numeric_limits<std::int64_t>::max()
                                                                              : -ns);
  const auto value = static_cast<double>(ns);
  if (ns >= 172'800'000'000'000) return fmt::format("{:.1f} days", value / 86'400e9);
  if (ns >= 7'200'000'000'000) return fmt::format("{:.1f} h", value / 3'600e9);
  if (ns >= 1'000'000'000) return four_digits(ns, 1'000'000'000) + " s";
  if (ns >= 1'000'000) return four_digits(ns, 1'000'000) + " ms";
  if (ns >= 1'000) return four_digits(ns, 1'000) + " us";
  return fmt::format(FMT_COMPILE("{} ns"), ns);
}

std::string bytes_text(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes >= 1u << 30) return fmt::format("{:.1f} GiB", value / (1u << 30));
  if (bytes >= 1u << 20) return fmt::format("{:.1f} MiB", value / (1u << 20));
  return fmt::format("{} bytes", bytes);
}

std::string time_text(std::int64_t ns) {
  const std::time_t seconds = static_cast<std::time_t>(ns / 1'000'000'000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &utc);
  return text;
}

std::string count_text(std::uint64_t count, std::string_view singular, std::string_view plural) {
  if (count == 1) return fmt::format("1 {}", singular);
  return plural.empty() ? fmt::format("{} {}s", count, singular) : fmt::format("{} {}", count, plural);
}

}  // namespace cli
