// `info --json`: {"ranks":[{"rank","host","pid","counts":{"kernel",...},"overwritten","lost","state",
// ...}],"notes":[]}.
#pragma once
#include <string>
#include <vector>

#include "cli/base/byte_sink.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clock_fit.h"

namespace cli {

// rank and pid are null when unknown. counts holds the kinds of a recording always, others when there are any;
// overwritten and lost are totals (lost with what CUPTI itself dropped), *_by_kind says of which. `notes` concern all
// inputs together. "clocks" as in merge's report, of merged files.
void write_info_json(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<std::string>& notes, ByteSink& sink);

}  // namespace cli
