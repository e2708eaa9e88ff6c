// What the page is of, in a few lines: GPUs, hosts, when, steps, versions.
#pragma once
#include "cli/report/facts.h"
#include "cli/report/html.h"

namespace cli {

// A list of terms; what is unknown has none.
void write_head_facts(Html& page, const ReportFacts& facts);

}  // namespace cli
