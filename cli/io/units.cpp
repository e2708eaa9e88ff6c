#include "cli/io/units.h"

#include <fmt/compile.h>
#include <fmt/format.h>

namespace cli {

std::string duration_text(std::int64_t ns) {
  const auto value = static_cast<double>(ns);
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

}  // namespace cli
