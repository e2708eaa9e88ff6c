// How much longer or shorter each step took on each rank than on the others.
#pragma once
#include "cli/report/facts.h"
#include "cli/report/html.h"

namespace cli {

// Nothing for fewer than two ranks or three steps: the numbers of the table say as much.
void write_step_heat(Html& page, const ReportFacts& facts);

}  // namespace cli
