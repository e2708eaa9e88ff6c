// The lists that Dims and OperatorInput stand for, by their numbers (payload.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// Real tensors and operators have far fewer; the number of a longer list, which a hostile file may have, is an empty one.
inline constexpr std::size_t kMostDims = 64, kMostInputs = 1024;

// In their order.
std::vector<std::int64_t> dims_of(const Catalog& catalog, DimsId last);
std::vector<OperatorInput> inputs_of(const Catalog& catalog, OperatorInputId last);

// 0 where there are none or too many. `count` and `before` of the inputs are set here.
DimsId intern_dims(Catalog& catalog, const std::vector<std::int64_t>& dims);
OperatorInputId intern_inputs(Catalog& catalog, const std::vector<OperatorInput>& inputs);

}  // namespace cli
