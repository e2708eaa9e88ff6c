// `info` for people: a table, what was lost, notes, and what to do next.
#pragma once
#include <string>

#include "cli/model/catalog.h"

namespace cli {

std::string info_text(const Catalog& catalog, bool merged);

// "1.234 s", "56.7 ms", "890 ns".
std::string duration_text(std::int64_t ns);

}  // namespace cli
