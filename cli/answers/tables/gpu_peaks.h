// Peak rates of GPUs by the name that CUDA or ROCm reports, from the makers' data sheets: dense, at boost clocks. A GPU
// that is not in the table, or whose name stands for several variants, has no peak. Shares of its peak are then unknown
// unless the user gives it (--peak-tflops, --peak-gb-per-s).
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

// Number format of matrix multiplications. tf32: float operands rounded by the tensor cores. fp4: two values per byte,
// with block scales.
enum class MathType : std::uint8_t { unknown, fp64, fp32, tf32, fp16, bf16, fp8, fp4 };
inline constexpr std::size_t kMathTypes = 8;
std::string_view math_type_name(MathType type);  // "bf16"; "" if unknown
std::optional<MathType> math_type_of_name(std::string_view name);

struct GpuPeaks {
  std::string_view name;
  // TFLOP/s of dense matrix products; 0 if not supported
  double fp64 = 0, fp32 = 0, tf32 = 0, fp16 = 0, bf16 = 0, fp8 = 0;
  double memory_gb_per_s = 0;  // decimal; 0 if unknown
  double fp4 = 0;
  double tflop_per_s(MathType type) const;  // 0 if unknown
  // Returns the minimum time for `flop` operations; fp32 runs as tf32 on tensor cores. 0 if unknown.
  std::int64_t computing_ns(std::int64_t flop, MathType type) const;
};

// Null if unknown. Ignores the makers' words (NVIDIA, Tesla, GeForce, AMD Instinct), "VF", case, word order and
// separators.
const GpuPeaks* peaks_of(std::string_view gpu);
// Returns the peaks of the device with this number in the process.
const GpuPeaks* peaks_of(const Process& process, std::int64_t device);
std::string_view gpu_name(const Process& process, std::int64_t device);  // "" if unknown

// Returns every name that peaks_of() finds, in normalized form.
std::vector<std::string> gpus_with_peaks();

// Returns the arithmetic intensity, in FLOP per byte, above which the type's peak is the limit and below which memory
// is; 0 if unknown.
double ridge(const GpuPeaks& gpu, MathType type);

// Peaks given by the user for all GPUs of the trace; 0 if not given.
struct OwnPeaks {
  // By MathType; `unknown` applies to every type that the GPU supports and that is not given
  std::array<double, kMathTypes> tflop_per_s{};
  double memory_gb_per_s = 0;
};

// Parses "989" or "bf16=989,fp8=1979". A single number applies to every type. Throws Error (usage).
OwnPeaks own_peaks_of(const std::vector<std::string>& tflops, double gb_per_s);

// Peaks of each device of a trace, looked up once. The user's peaks replace those of the table.
class DevicePeaks {
 public:
  // Both must outlive this object; `own` may be null.
  DevicePeaks(const Catalog& catalog, const OwnPeaks* own) : catalog_(catalog), own_(own) {}

  // Null if unknown. Devices of the same GPU model share one pointer.
  const GpuPeaks* of(ProcessId process, std::int64_t device) { return found(process, device).peaks; }
  // Returns the peaks from the table, without those of the user.
  const GpuPeaks* hardware(ProcessId process, std::int64_t device) { return found(process, device).hardware; }
  // Returns the names of devices that were looked up and have no peak; an unnamed one is "a GPU without a name".
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
  std::map<const GpuPeaks*, GpuPeaks> merged_;  // by row of the table; null for GPUs without one
};

}  // namespace cli
