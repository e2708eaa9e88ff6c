// Converts async spans of the Trace Event Format ("b" and "e", "S" and "F", joined by process, category and id) to
// slices, for formats without async spans. The exporter gets a slice with the span's length for the begin; the end is
// counted with it. Other async events ("n"), and ends without a begin, remain instants. A begin without an end is a
// slice without an end. Memory: 8 bytes per span.
#pragma once
#include <memory>

#include "cli/formats/export/exporter.h"

namespace cli::chrome {

std::unique_ptr<Exporter> with_async_slices(std::unique_ptr<Exporter> format);

}  // namespace cli::chrome
