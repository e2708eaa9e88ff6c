#include "cli/analyze/analysis.h"

namespace cli {

const std::vector<AnalysisRow>& analyses() {
  static const std::vector<AnalysisRow> rows{temporal_analysis(), steps_analysis(), kernels_analysis(), collectives_analysis(), comm_analysis()};
  return rows;
}

}  // namespace cli
