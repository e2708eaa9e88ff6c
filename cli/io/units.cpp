#include "cli/io/units.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <ctime>
#include <limits>

namespace cli {

std::string duration_text(std::int64_t ns) {
  if (ns < 0) return "-" + duration_text(ns == std::numeric_limits<std::int64_t>::min() ? std::numeric_limits<std::int64_t>::max() : -ns);
  const auto value = static_cast<double>(ns);
  if (ns >= 172'800'000'000'000) return fmt::format("{:.1f} days", value / 86'400e9);
  if (ns >= 7'200'000'000'000) return fmt::format("{:.1f} h", value / 3'600e9);
  if (ns >= 1'000'000'000) return fmt::format("{:.3f} s", value / 1e9);
  if (ns >= 1'000'000) return fmt::format("{:.3f} ms", value / 1e6);
  if (ns >= 1'000) return fmt::format(FMT_COMPILE("{}.{:03} us"), ns / 1'000, ns % 1'000);  // most gaps: no rounding
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
