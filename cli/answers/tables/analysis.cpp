#include "cli/answers/tables/analysis.h"

namespace cli {

const std::vector<AnalysisEntry>& analyses() {
  static const std::vector<AnalysisEntry> all{
      temporal_analysis(),
      steps_analysis(),
      step_phases_analysis(),
      idle_analysis(),
      gaps_analysis(),
      overlap_analysis(),
      kernels_analysis(),
      classes_analysis(),
      operators_analysis(),
      modules_analysis(),
      stacks_analysis(),
      regions_analysis(),
      copies_analysis(),
      memory_analysis(),
      api_analysis(),
      launches_analysis(),
      syncs_analysis(),
      flops_analysis(),
      mfu_analysis(),
      roofline_analysis(),
      outliers_analysis(),
      collectives_analysis(),
      comm_analysis(),
      stragglers_analysis(),
      critical_path_analysis()};
  return all;
}

}  // namespace cli
