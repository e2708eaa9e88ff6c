#include "cli/report/section.h"

namespace cli {

const std::vector<SectionEntry>& sections() {
  static const std::vector<SectionEntry> all{
      summary_section(),
      findings_section(),
  };
  return all;
}

}  // namespace cli
