// What recordings say about themselves (notices) and analyses repeat: what is missing in the numbers.
#pragma once
#include <string>
#include <vector>

#include "cli/model/catalog.h"

namespace cli {

// One line for each kind of notice, with the ranks and the first one's text: however many ranks there are, a few lines.
std::vector<std::string> notice_notes(const Catalog& catalog);

}  // namespace cli
