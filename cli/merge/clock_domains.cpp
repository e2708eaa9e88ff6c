#include "cli/merge/clock_domains.h"

namespace cli {

std::uint32_t ClockDomains::of_process(const Process& process) {
  if (process.boot_id.empty() && process.host.empty()) return add(process);
  const std::string key = process.boot_id.empty() ? "host " + process.host : "boot " + process.boot_id;
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

}  // namespace cli
