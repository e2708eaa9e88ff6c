// The heat map of steps by rank: how much longer or shorter each step took than on the other ranks.
#pragma once
#include "cli/show/report/facts.h"
#include "cli/show/report/html.h"

namespace cli {

// Writes nothing for fewer than two ranks or three steps; the table is enough then.
void write_step_heat(Html& page, const ReportFacts& facts);

}  // namespace cli
