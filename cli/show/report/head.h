// The head of the page: GPUs, hosts, date, steps and versions.
#pragma once
#include "cli/show/report/facts.h"
#include "cli/show/report/html.h"

namespace cli {

// Writes a list of terms. Unknown facts are omitted.
void write_head_facts(Html& page, const ReportFacts& facts);

}  // namespace cli
