#include "cli/answers/tables/analysis.h"

namespace cli {

// The analyses, in the order of the output.
#define ANALYSES     \
  ENTRY(temporal)    \
  ENTRY(steps)       \
  ENTRY(step_phases) \
  ENTRY(idle)        \
  ENTRY(gaps)        \
  ENTRY(overlap)     \
  ENTRY(kernels)     \
  ENTRY(classes)     \
  ENTRY(operators)   \
  ENTRY(modules)     \
  ENTRY(stacks)      \
  ENTRY(regions)     \
  ENTRY(copies)      \
  ENTRY(memory)      \
  ENTRY(api)         \
  ENTRY(launches)    \
  ENTRY(syncs)       \
  ENTRY(flops)       \
  ENTRY(mfu)         \
  ENTRY(roofline)    \
  ENTRY(outliers)    \
  ENTRY(collectives) \
  ENTRY(comm)        \
  ENTRY(stragglers)  \
  ENTRY(critical_path)
#define ENTRY(name) AnalysisEntry name##_analysis();
ANALYSES
#undef ENTRY

const std::vector<AnalysisEntry>& analyses() {
#define ENTRY(name) name##_analysis(),
  static const std::vector<AnalysisEntry> all{ANALYSES};
#undef ENTRY
  return all;
}

}  // namespace cli
