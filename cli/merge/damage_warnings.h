// Files that were read although they are damaged, or no recordings: what a person must know before they trust a picture
// of them.
#pragma once
#include <string>
#include <vector>

#include "cli/model/catalog.h"

namespace cli {

// One line for each damaged JSON file: how many events were lost (at least: what stood in a destroyed block is not
// known), and where the first was; and for each that is our own merged picture, whose ranks are lost to us.
std::vector<std::string> damage_warnings(const Catalog& catalog);

}  // namespace cli
