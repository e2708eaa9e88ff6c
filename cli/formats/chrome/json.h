// Writes Chrome trace JSON for ui.perfetto.dev and chrome://tracing: ranks as processes, host threads above GPU
// streams, flows from launches to work. Times are microseconds with three decimals since the first event;
// baseTimeNanoseconds is the wall clock of that moment.
#pragma once
#include <memory>

#include "cli/formats/export/exporter.h"

namespace cli::chrome {

std::unique_ptr<Exporter> make_chrome_json();

}  // namespace cli::chrome
