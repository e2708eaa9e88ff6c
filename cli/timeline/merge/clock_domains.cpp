#include "cli/timeline/merge/clock_domains.h"

namespace cli {

std::string clock_name(const Process& process) {
  if (!process.boot_id.empty()) return "boot " + process.boot_id;
  return process.host.empty() ? "" : "host " + process.host;
}

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

}  // namespace cli
