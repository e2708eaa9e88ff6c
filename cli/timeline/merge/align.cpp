#include "cli/timeline/merge/align.h"

#include <algorithm>

#include "cli/timeline/clocks/fit_clocks.h"
#include "cli/timeline/collectives/match.h"
#include "cli/trace/names.h"

namespace cli {

std::uint32_t ClockDomains::of_process(const Process& process) {
  const std::string key = clock_name(process);
  if (each_has_its_own_ || key.empty()) return add(process);
  const auto [known, is_new] = known_.try_emplace(key, static_cast<std::uint32_t>(fits_.size()));
  if (is_new) add(process);
  return known->second;
}

std::uint32_t ClockDomains::of_merged() {
  if (merged_ == ~std::uint32_t{0}) merged_ = add({});
  return merged_;
}

std::uint32_t ClockDomains::add(const Process& process) {
  ClockFit& fit = fits_.emplace_back();
  fit.host = process.host;
  fit.boot_id = process.boot_id;
  return static_cast<std::uint32_t>(fits_.size() - 1);
}

void keep_wall_clocks(std::vector<ClockFit>& fits) {
  for (ClockFit& fit : fits) fit.method = kWallClock;
}

bool are_wall_clocks(const std::vector<ClockFit>& fits) {
  return !fits.empty() && std::all_of(fits.begin(), fits.end(),
                                      [](const ClockFit& fit) { return fit.method == kWallClock && !fit.moves(); });
}

void align_by_collectives(const AlignInput& input, std::vector<ClockFit>& fits) {
  fit_clocks(input.calls, match_collectives(input.calls, input.catalog), input.clock_of, input.fixed, fits);
}

bool may_have_collectives(const Catalog& catalog) {
  const auto calls = [](const Process& process) { return process.counts[static_cast<std::size_t>(Kind::nccl)] > 0; };
  if (std::any_of(catalog.processes.begin(), catalog.processes.end(), calls)) return true;
  for (StringId id = 0; id < catalog.strings.size(); ++id) {
    if (is_comm_name(catalog.strings[id])) return true;
  }
  return false;
}

}  // namespace cli
