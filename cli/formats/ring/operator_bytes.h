// The inputs of an operator, from the bytes that a recording has of them (trace::OperatorInput), in the words of PyTorch's own profiles.
#pragma once
#include <string_view>

#include "cli/trace/catalog.h"

namespace cli::ring {

// What is cut off, or damaged, ends the list. 0: there are none.
OperatorInputId read_operator_inputs(std::string_view bytes, Catalog& catalog);

}  // namespace cli::ring
