// Notices of recordings about missing data, as notes of analyses.
#pragma once
#include <string>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// Returns one line for each kind of notice, with all its ranks and the text of the first.
std::vector<std::string> notice_notes(const Catalog& catalog);

}  // namespace cli
