#include "cli/show/report/section.h"

namespace cli {

const std::vector<SectionEntry>& sections() {
  static const std::vector<SectionEntry> all{
      mean_step_section(),
      summary_section(),
      findings_section(),
      time_per_rank_section(),
      overlap_section(),
      stragglers_section(),
      idle_section(),
      steps_section(),
      phases_section(),
      bandwidth_section(),
      flame_section(),
      roofline_section(),
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
