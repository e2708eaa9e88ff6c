// The floating-point operations of operators whose inputs a profile has (record_shapes), and the bytes that they must move at
// least: each input read once, the output written once. A multiplication and an addition are two operations.
//
//   mm, addmm, bmm, baddbmm, linear, _scaled_mm   2 M N K for each matrix of a batch; of packed FP4, K is twice the stored size
//   mv, addmv, dot                                2 M K
//   _grouped_mm, _scaled_grouped_mm               2 M N K of all groups together, as if they covered all rows (or all of K)
//   convolution, forward                          2 x output elements x (input channels / groups) x kernel elements
//   transposed convolution, forward               2 x input elements x (output channels / groups) x kernel elements
//   convolution, backward                         the same as forward, for each of the two gradients that is asked for
//   attention, forward                            2 B H P (D + V): two products
//   attention, backward                           2 B H P (3 D + 2 V): five products
//
// D and V are the sizes of a head of queries and values, P the pairs of a query and a key that the mask leaves (attended_pairs()).
// Formulas: torch/utils/flop_counter.py, which counts every pair; signatures: aten/src/ATen/native/native_functions.yaml and
// flash_attn/flash_attn_interface.py.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/answers/tables/gpu_peaks.h"
#include "cli/trace/catalog.h"
#include "cli/trace/payload.h"

namespace cli {

struct OperatorCost {
  std::int64_t flop = 0;                // of one call, > 0
  std::optional<std::int64_t> bytes;    // empty: the type of the output is not known
  std::string shape;                    // "16384x768 * 768x3072"; of attention followed by " causal", " window 128"
  MathType type = MathType::unknown;    // of the inputs; fp32: float, which tensor cores may multiply as tf32
};

// Which diagonal a causal mask, or a window, follows if there are fewer or more queries than keys. top_left: query i sees keys 0 to i
// (SDPA's is_causal, cuDNN's and memory-efficient attention by it). bottom_right: the last query sees all keys (FlashAttention since 2.1).
enum class MaskCorner : std::uint8_t { top_left, bottom_right };

struct AttentionMask {
  MaskCorner corner = MaskCorner::top_left;
  bool causal = false;
  std::int64_t left = -1, right = -1;  // a window around the diagonal; -1: none on this side
};

// Twice the pairs of a query and a key that a mask leaves, of lengths from 1 to 2^30. Causal attention of as many queries as keys counts
// half of all pairs, as FlashAttention's papers and benchmarks do; otherwise pairs are counted one by one.
std::int64_t attended_pairs_twice(std::int64_t queries, std::int64_t keys, const AttentionMask& mask);

// Whether it is one of these.
bool is_costed(std::string_view name);
// Empty: the operator is none of these, or its inputs are not enough.
std::optional<OperatorCost> cost_of(const Catalog& catalog, std::string_view name, OperatorInputId inputs);
// Why cost_of() is empty for an operator that is_costed().
std::string_view missing_cost(const Catalog& catalog, std::string_view name, OperatorInputId inputs);

// What a kernel makes of float inputs: fp32, tf32, or its name does not tell. `gpu` may be null.
MathType type_of_float(std::string_view kernel, const GpuPeaks* gpu);

}  // namespace cli
