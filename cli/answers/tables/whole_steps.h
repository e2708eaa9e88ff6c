// The training steps with GPU work that the chosen time of their process holds as a whole, whatever rows stand for.
#pragma once
#include "cli/answers/tables/analysis.h"

namespace cli {

Windows whole_steps(const AnalysisContext& context);

}  // namespace cli
