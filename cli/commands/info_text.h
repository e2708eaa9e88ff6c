// `info` for people: a table, what was lost, notes, and what to do next.
#pragma once
#include <string>
#include <vector>

#include "cli/model/catalog.h"

namespace cli {

// `notes` concern all inputs together.
std::string info_text(const Catalog& catalog, const std::vector<std::string>& notes, bool merged);

}  // namespace cli
