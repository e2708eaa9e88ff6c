#include "cli/report/section.h"

namespace cli {

const std::vector<SectionEntry>& sections() {
  static const std::vector<SectionEntry> all{
      summary_section(),
      findings_section(),
      time_per_rank_section(),
      steps_section(),
      overlap_section(),
      idle_section(),
      stragglers_section(),
      bandwidth_section(),
      kernels_section(),
      classes_section(),
      operators_section(),
      modules_section(),
      stacks_section(),
      memory_section(),
      losses_section(),
      clocks_section(),
  };
  return all;
}

}  // namespace cli
