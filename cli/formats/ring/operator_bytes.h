// Reads the inputs of an operator from the bytes in a recording (trace::OperatorInput), using the terms of PyTorch's
// own profiles.
#pragma once
#include <string_view>

#include "cli/trace/catalog.h"

namespace cli::ring {

// Truncated or damaged bytes end the list. Returns 0 if there are no inputs.
OperatorInputId read_operator_inputs(std::string_view bytes, Catalog& catalog);

}  // namespace cli::ring
