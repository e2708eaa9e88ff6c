// How steps were found, in words.
#pragma once
#include <string>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/steps.h"

namespace cli {

// "ranks 0-7: steps by the period of the kernels, ..."; a line for ranks of which the same is to be said, which it names where they are
// not all that were chosen. Of ranks that named their steps with `also_named` alone.
std::vector<std::string> step_notes(const std::vector<ProcessSteps>& found, const Catalog& catalog, const std::vector<bool>& chosen, bool also_named);

}  // namespace cli
