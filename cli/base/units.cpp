#include "cli/base/units.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <ctime>
#include <limits>

namespace cli {

namespace {

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

std::string duration_text(std::int64_t ns) {
  if (ns < 0) return "-" + duration_text(ns == std::numeric_limits<std::int64_t>::min() ? std::numeric_limits<std::int64_t>::max() : -ns);
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
