// What a GPU can do at most, by the name that CUDA or ROCm gives it, as its maker's data sheets say it: without sparsity, at
// boost clocks. A GPU that is not in the table, or that is sold with several limits under one name, has no peak: shares of it
// are unknown.
#pragma once
#include <cstdint>
#include <string_view>

#include "cli/model/catalog.h"

namespace cli {

// How numbers are multiplied. tf32: float operands, rounded by the tensor cores.
enum class MathType : std::uint8_t { unknown, fp64, fp32, tf32, fp16, bf16, fp8 };
std::string_view math_type_name(MathType type);  // "bf16"; "": unknown

struct GpuPeaks {
  std::string_view name;
  double fp64 = 0, fp32 = 0, tf32 = 0, fp16 = 0, bf16 = 0, fp8 = 0;  // TFLOP/s of matrix products, dense; 0: it has none
  double memory_gb_per_s = 0;                                        // decimal
  double tflop_per_s(MathType type) const;                           // 0: unknown
};

// Null: unknown.
const GpuPeaks* peaks_of(std::string_view gpu);
// Of the device with this number in the process.
const GpuPeaks* peaks_of(const Process& process, std::int64_t device);

// FLOP a byte above which the peak of the type bounds, and below which memory does; 0: unknown.
double ridge(const GpuPeaks& gpu, MathType type);

}  // namespace cli
