// Chrome trace JSON: ranks as processes, host threads above, GPU streams below, launch -> work flows; for
// ui.perfetto.dev and chrome://tracing. Times are microseconds with three decimals since the first event;
// baseTimeNanoseconds is the wall clock of that moment.
#pragma once
#include <memory>

#include "cli/formats/export/exporter.h"

namespace cli::chrome {

std::unique_ptr<Exporter> make_chrome_json();

}  // namespace cli::chrome
