// Async spans of the Trace Event Format ("b" and "e", "S" and "F", joined by process, category and id) as slices: for
// formats that know slices only. An exporter that is given one gets a slice with the span's length in place of its begin, and
// its end is counted with it. Other async events ("n") stay instants, and so do ends without a begin; a begin without an end
// is a slice without an end. Memory: 8 bytes a span.
#pragma once
#include <memory>

#include "cli/formats/export/exporter.h"

namespace cli::chrome {

std::unique_ptr<Exporter> with_async_slices(std::unique_ptr<Exporter> format);

}  // namespace cli::chrome
