// Which steps of a run are compared: those that every rank has as a whole, but the first ones, which are warm-up.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "cli/answers/tables/analysis.h"
#include "cli/answers/compare/run_profile.h"

namespace cli {

class KeptSteps {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  // Of `profile`: steps, warm_up and not_everywhere, where `context` is the first that asks. `whole`: steps are not asked for.
  KeptSteps(const AnalysisContext& context, bool whole, RunProfile& profile);

  const Windows& windows() const { return windows_; }
  bool whole() const { return whole_; }
  // The place of this window in RunProfile::steps.
  std::size_t place(ProcessId process, std::size_t window) const { return places_[process][window]; }
  // Of a step of the process; its number of windows: it has none.
  std::size_t window_of(ProcessId process, std::size_t place) const;
  // The process has steps, or is looked at as a whole.
  bool takes_part(ProcessId process) const { return takes_part_[process]; }

 private:
  void choose(const AnalysisContext& context, RunProfile& profile) const;

  bool whole_;
  Windows windows_;
  std::vector<bool> takes_part_;
  std::vector<std::vector<std::size_t>> places_;  // by process and window; kNone: it is left out
};

}  // namespace cli
