// What a GPU can do at most, by the name that CUDA or ROCm gives it, as its maker's data sheets say: without sparsity, at boost
// clocks. A GPU that the table lacks, or whose name stands for several limits, has no peak: shares of it are unknown, unless the user
// gives its peaks (--peak-tflops, --peak-gb-per-s).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// How numbers are multiplied. tf32: float operands, rounded by the tensor cores. fp4: two to a byte, with scales of blocks.
enum class MathType : std::uint8_t { unknown, fp64, fp32, tf32, fp16, bf16, fp8, fp4 };
inline constexpr std::size_t kMathTypes = 8;
std::string_view math_type_name(MathType type);          // "bf16"; "": unknown
std::optional<MathType> math_type_of_name(std::string_view name);

struct GpuPeaks {
  std::string_view name;
  double fp64 = 0, fp32 = 0, tf32 = 0, fp16 = 0, bf16 = 0, fp8 = 0;  // TFLOP/s of matrix products, dense; 0: it has none
  double memory_gb_per_s = 0;                                        // decimal; 0: unknown
  double fp4 = 0;
  std::string_view source = {};
  double tflop_per_s(MathType type) const;  // 0: unknown
  // Returns the least time for so many operations; float on tensor cores as tf32. 0: unknown.
  std::int64_t computing_ns(std::int64_t flop, MathType type) const;
};

// Null: unknown. The makers' words (NVIDIA, Tesla, GeForce, AMD Instinct), VF, the case, the order of the words and what separates them do not matter.
const GpuPeaks* peaks_of(std::string_view gpu);
// Of the device with this number in the process.
const GpuPeaks* peaks_of(const Process& process, std::int64_t device);
std::string_view gpu_name(const Process& process, std::int64_t device);  // "": unknown

// Every name that peaks_of() finds, as it compares them.
std::vector<std::string> gpus_with_peaks();

// FLOP a byte above which the peak of the type bounds, and below which memory does; 0: unknown.
double ridge(const GpuPeaks& gpu, MathType type);

// Peaks that the user gives, for all GPUs of the trace; 0: not given.
struct OwnPeaks {
  std::array<double, kMathTypes> tflop_per_s{};  // by MathType; of `unknown`: for each type that the GPU has and that is not given
  double memory_gb_per_s = 0;
};

// "989", "bf16=989,fp8=1979": a number alone is for every type. Throws Error (usage).
OwnPeaks own_peaks_of(const std::vector<std::string>& tflops, double gb_per_s);

// The peaks of each device of a trace, looked up once, with the user's instead of the table's.
class DevicePeaks {
 public:
  // Both outlive it; `own` may be null.
  DevicePeaks(const Catalog& catalog, const OwnPeaks* own) : catalog_(catalog), own_(own) {}

  // Null: none is known. One pointer for each kind of GPU.
  const GpuPeaks* of(ProcessId process, std::int64_t device) { return found(process, device).peaks; }
  // As the table has them: what the GPU has.
  const GpuPeaks* hardware(ProcessId process, std::int64_t device) { return found(process, device).hardware; }
  // Names of devices that were asked for and have no peak; "a GPU without a name" is one.
  std::vector<std::string> without_peaks() const;

 private:
  struct Found {
    const GpuPeaks* hardware = nullptr;
    const GpuPeaks* peaks = nullptr;
  };
  const Found& found(ProcessId process, std::int64_t device);
  const GpuPeaks* with_own(const GpuPeaks* hardware);

  const Catalog& catalog_;
  const OwnPeaks* own_;
  std::map<std::pair<ProcessId, std::int64_t>, Found> devices_;
  std::map<const GpuPeaks*, GpuPeaks> merged_;  // by the table's row; null: of GPUs that have none
};

}  // namespace cli
