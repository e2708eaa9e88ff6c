#include "cli/timeline/collectives/clocks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace cli {
namespace {

constexpr double kStandardErrors = 6;
constexpr double kLeastMad_ns = 2000;            // points may lie on a line by chance

std::optional<std::int64_t> clock_error(const ClockFit& fit) {
  if (fit.method == "reference") return 0;
  if (fit.method != "collectives" || fit.samples == 0 || !fit.mad_ns) return {};
  const double count = static_cast<double>(fit.samples);
  const double sigma_ns = std::max(static_cast<double>(*fit.mad_ns), kLeastMad_ns) * kSigmaOfMad * (1 + kFewPoints / count);
  const std::int64_t error_ns = std::llround(kStandardErrors * sigma_ns / std::sqrt(count));
  if (!fit.bound_lo_ns || !fit.bound_hi_ns) return error_ns;
  return std::min(error_ns, std::max(std::abs(*fit.bound_hi_ns - fit.offset_ns), std::abs(*fit.bound_lo_ns - fit.offset_ns)));
}

}  // namespace

ClockKnowledge clocks_of(const Catalog& catalog, const std::vector<ClockFit>& fits) {
  ClockKnowledge known;
  std::map<std::string, std::uint32_t> domains;
  for (std::size_t id = 0; id < catalog.processes.size(); ++id) {
    const Process& process = catalog.processes[id];
    const bool is_fitted = process.clock >= 0 && static_cast<std::size_t>(process.clock) < fits.size();
    const std::string name = is_fitted ? "clock " + std::to_string(process.clock)
                             : !process.boot_id.empty() ? "boot " + process.boot_id
                             : !process.host.empty() ? "host " + process.host : "process " + std::to_string(id);
    known.domains.push_back(domains.try_emplace(name, static_cast<std::uint32_t>(domains.size())).first->second);
    known.errors_ns.push_back(is_fitted ? clock_error(fits[static_cast<std::size_t>(process.clock)]) : std::nullopt);
  }
  return known;
}

}  // namespace cli
