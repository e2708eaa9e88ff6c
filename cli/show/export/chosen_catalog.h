// The catalogue as exporters of some processes shall see it.
#pragma once
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// A copy with the same ids. The processes that are not `shown` have no events and lost none, so that no exporter writes
// a track that tells of them.
Catalog chosen_catalog(const Catalog& catalog, const std::vector<bool>& shown);

}  // namespace cli
