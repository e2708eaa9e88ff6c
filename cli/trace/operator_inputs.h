// Converts between lists and the ids of Dims and OperatorInput that represent them (payload.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// Real tensors and operators have far fewer. A longer list, which a malformed file may contain, becomes an empty one.
inline constexpr std::size_t kMostDims = 64, kMostInputs = 1024;

// Return the elements in their original order.
std::vector<std::int64_t> dims_of(const Catalog& catalog, DimsId last);
std::vector<OperatorInput> inputs_of(const Catalog& catalog, OperatorInputId last);

// Return 0 if the list is empty or too long. `count` and `before` of the inputs are set here.
DimsId intern_dims(Catalog& catalog, const std::vector<std::int64_t>& dims);
OperatorInputId intern_inputs(Catalog& catalog, const std::vector<OperatorInput>& inputs);

}  // namespace cli
