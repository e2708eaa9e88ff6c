// Which clock timed an input. Processes with one boot id share a clock; where that is unknown, those with one host
// name; where both are, each has its own. A merged file is on its axis already: its clock is left alone.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/clock_fit.h"

namespace cli {

// "boot ..." or "host ..."; "": neither is known.
std::string clock_name(const Process& process);

class ClockDomains {
 public:
  explicit ClockDomains(bool each_has_its_own = false) : each_has_its_own_(each_has_its_own) {}

  std::uint32_t of_process(const Process& process);
  std::uint32_t of_merged();  // a clock with offset 0, in no report

  std::optional<std::uint32_t> merged() const { return merged_ == ~std::uint32_t{0} ? std::nullopt : std::optional(merged_); }

  std::vector<ClockFit>& fits() { return fits_; }
  bool reported(std::uint32_t clock) const { return clock != merged_; }

 private:
  std::uint32_t add(const Process& process);

  bool each_has_its_own_;
  std::vector<ClockFit> fits_;
  std::unordered_map<std::string, std::uint32_t> known_;
  std::uint32_t merged_ = ~std::uint32_t{0};
};

}  // namespace cli
