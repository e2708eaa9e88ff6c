// The floating-point operations of operators whose inputs a profile tells (record_shapes), and the bytes that they must move
// at least: each input read once, the output written once. A multiplication and an addition are two operations.
//
//   mm, addmm, bmm, baddbmm, linear, _scaled_mm   2 M N K for each matrix of a batch
//   convolution, forward                          2 x output elements x (input channels / groups) x kernel elements
//   convolution, backward                         the same for each of the two gradients that is asked for
//   attention, forward                            4 B H S T D: two products of S x T x D; of causal ones half
//   attention, backward                           2.5 times that: five products
//
// Source of signatures: aten/src/ATen/native/native_functions.yaml; of attention, torch/utils/flop_counter.py. S and T are the
// lengths of queries and keys.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/analyze/gpu_peaks.h"
#include "cli/model/catalog.h"
#include "cli/model/payload.h"

namespace cli {

struct OperatorCost {
  std::int64_t flop = 0;                // of one call, > 0
  std::optional<std::int64_t> bytes;    // empty: the type of the output is not known
  std::string shape;                    // "16384x768 * 768x3072"; of attention that is causal with " causal"
  MathType type = MathType::unknown;    // of the inputs; fp32: float, which tensor cores may multiply as tf32
};

// Whether it is one of these.
bool is_costed(std::string_view name);
// Empty: the operator is none of these, or its inputs do not tell enough.
std::optional<OperatorCost> cost_of(const Catalog& catalog, std::string_view name, OperatorInputId inputs);

// What a kernel makes of float inputs: fp32, tf32, or its name does not tell. `gpu` may be null.
MathType type_of_float(std::string_view kernel, const GpuPeaks* gpu);

}  // namespace cli
