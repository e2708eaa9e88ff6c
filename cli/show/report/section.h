// A section of the report's page: a file and a line in sections.cpp.
#pragma once
#include <string_view>
#include <vector>

#include "cli/show/report/facts.h"
#include "cli/show/report/html.h"

namespace cli {

struct SectionEntry {
  std::string_view id, title;
  std::vector<std::string_view> tables;  // of analyses, that it shows
  void (*write)(const ReportFacts& facts, Html& page);  // what stands under the title
  bool (*applies)(const ReportFacts& facts) = nullptr;  // null: always; else the page has no such section where it does not
};

// In the order of the page.
const std::vector<SectionEntry>& sections();

// Returns whether there is GPU work in the chosen time.
bool has_gpu_time(const ReportFacts& facts);

// Returns whether there are operators with known sizes and a GPU with known peaks.
bool has_roofline(const ReportFacts& facts);

// One per file.
SectionEntry mean_step_section();
SectionEntry summary_section();
SectionEntry findings_section();
SectionEntry time_per_rank_section();
SectionEntry steps_section();
SectionEntry phases_section();
SectionEntry overlap_section();
SectionEntry kernels_section();
SectionEntry classes_section();
SectionEntry idle_section();
SectionEntry stragglers_section();
SectionEntry bandwidth_section();
SectionEntry operators_section();
SectionEntry modules_section();
SectionEntry stacks_section();
SectionEntry flame_section();
SectionEntry roofline_section();
SectionEntry memory_section();
SectionEntry losses_section();
SectionEntry clocks_section();

}  // namespace cli
