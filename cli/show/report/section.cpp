#include "cli/show/report/section.h"

namespace cli::report {

// The sections, in page order.
#define SECTIONS       \
  ENTRY(mean_step)     \
  ENTRY(summary)       \
  ENTRY(findings)      \
  ENTRY(time_per_rank) \
  ENTRY(overlap)       \
  ENTRY(stragglers)    \
  ENTRY(idle)          \
  ENTRY(steps)         \
  ENTRY(phases)        \
  ENTRY(bandwidth)     \
  ENTRY(flame)         \
  ENTRY(roofline)      \
  ENTRY(kernels)       \
  ENTRY(classes)       \
  ENTRY(operators)     \
  ENTRY(modules)       \
  ENTRY(stacks)        \
  ENTRY(memory)        \
  ENTRY(losses)        \
  ENTRY(clocks)
#define ENTRY(name) SectionEntry name##_section();
SECTIONS
#undef ENTRY

const std::vector<SectionEntry>& sections() {
#define ENTRY(name) name##_section(),
  static const std::vector<SectionEntry> all{SECTIONS};
#undef ENTRY
  return all;
}

}  // namespace cli::report
