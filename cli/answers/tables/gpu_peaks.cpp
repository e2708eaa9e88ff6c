#include "cli/answers/tables/gpu_peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <set>

#include "cli/base/error.h"
#include "cli/base/text.h"

namespace cli {
namespace {

struct Chip {
  std::string_view names;  // in the form of compared_name(), separated by |
  GpuPeaks peaks;
};

// Rates with sparsity are halved. Rates of a board or server are divided by its number of devices.
constexpr Chip kChips[] = {
    // Name; TFLOP/s of fp64, fp32, tf32, fp16, bf16 and fp8; GB/s; TFLOP/s of fp4. The comment above is the source.
    // NVIDIA V100 Tensor Core GPU data sheet (2020)
    {"16gb sxm2 v100|32gb sxm2 v100", {"V100 SXM2", 7.8, 15.7, 0, 125, 0, 0, 900, 0}},
    {"16gb pcie v100|32gb pcie v100", {"V100 PCIe", 7.0, 14.0, 0, 112, 0, 0, 900, 0}},
    // NVIDIA DGX-2 data sheet, 2 PFLOPS of 16; the others as SXM2
    {"32gb sxm3 v100", {"V100 SXM3", 7.8, 15.7, 0, 125, 0, 0, 900, 0}},
    // NVIDIA DGX Station data sheet, 500 TFLOPS of 4; the others as SXM2
    {"32gb dgxs v100", {"V100 DGXS 32GB", 7.8, 15.7, 0, 125, 0, 0, 900, 0}},
    // NVIDIA V100 Tensor Core GPU data sheet (2020), V100S PCIe
    {"32gb pcie v100s", {"V100S PCIe", 8.2, 16.4, 0, 130, 0, 0, 1134, 0}},
    // NVIDIA T4 Tensor Core GPU data sheet (2019)
    {"t4", {"T4", 0, 8.1, 0, 65, 0, 0, 320, 0}},
    // NVIDIA A100 Tensor Core GPU data sheet (2021)
    {"40gb a100 sxm4", {"A100 SXM4 40GB", 19.5, 19.5, 156, 312, 312, 0, 1555, 0}},
    {"80gb a100 sxm4", {"A100 SXM4 80GB", 19.5, 19.5, 156, 312, 312, 0, 2039, 0}},
    {"40gb a100 pcie", {"A100 PCIe 40GB", 19.5, 19.5, 156, 312, 312, 0, 1555, 0}},
    {"80gb a100 pcie", {"A100 PCIe 80GB", 19.5, 19.5, 156, 312, 312, 0, 1935, 0}},
    // NVIDIA A800 Tensor Core GPU data sheet; rates as A100
    {"40gb a800 sxm4", {"A800 SXM4 40GB", 19.5, 19.5, 156, 312, 312, 0, 1555, 0}},
    {"80gb a800 sxm4", {"A800 SXM4 80GB", 19.5, 19.5, 156, 312, 312, 0, 2039, 0}},
    {"80gb a800 pcie", {"A800 PCIe 80GB", 19.5, 19.5, 156, 312, 312, 0, 1935, 0}},
    // The name does not contain the memory type.
    {"a800", {"A800", 19.5, 19.5, 156, 312, 312, 0, 0, 0}},
    // NVIDIA A10 Tensor Core GPU data sheet
    {"a10", {"A10", 0, 31.2, 62.5, 125, 125, 0, 600, 0}},
    // NVIDIA A30 Tensor Core GPU data sheet
    {"a30", {"A30", 10.3, 10.3, 82, 165, 165, 0, 933, 0}},
    // NVIDIA A40 data sheet (2021)
    {"a40", {"A40", 0, 37.4, 74.8, 149.7, 149.7, 0, 696, 0}},
    // NVIDIA Ampere GA102 GPU Architecture white paper, table of the RTX A6000
    {"a6000 rtx", {"RTX A6000", 0, 38.7, 77.4, 154.8, 154.8, 0, 768, 0}},
    // NVIDIA Ampere GA102 GPU Architecture white paper, sums in FP32
    {"3090 rtx", {"RTX 3090", 0, 35.6, 35.6, 71, 71, 0, 936, 0}},
    // NVIDIA H100 Tensor Core GPU data sheet (2023), halved
    {"80gb h100 hbm3|h100 sxm5|80gb h100 sxm5|h100 sxm", {"H100 SXM", 67, 67, 494.5, 989.5, 989.5, 1979, 3350, 0}},
    {"h100 pcie", {"H100 PCIe", 51, 51, 378, 756.5, 756.5, 1513, 2000, 0}},
    {"h100 nvl", {"H100 NVL", 60, 60, 417.5, 835.5, 835.5, 1670.5, 3900, 0}},
    // NVIDIA H800 Tensor Core GPU data sheet (2023), halved
    {"h800|h800 sxm5|80gb h800 sxm5", {"H800 SXM", 1, 67, 494.5, 989.5, 989.5, 1979, 3350, 0}},
    {"h800 pcie", {"H800 PCIe", 0.8, 51, 378, 756.5, 756.5, 1513, 2000, 0}},
    // NVIDIA H20 specification as server makers print it (2023)
    {"h20", {"H20", 1, 44, 74, 148, 148, 296, 4000, 0}},
    // As H20; 141 GB of HBM3e as in an H200
    {"3e h20", {"H20-3e", 1, 44, 74, 148, 148, 296, 4800, 0}},
    // NVIDIA H200 Tensor Core GPU data sheet (2024), halved
    {"h200|141gb h200 hbm3e", {"H200", 67, 67, 494.5, 989.5, 989.5, 1979, 4800, 0}},
    {"h200 nvl", {"H200 NVL", 60, 60, 417.5, 835.5, 835.5, 1670.5, 4800, 0}},
    // NVIDIA GH200 Grace Hopper Superchip data sheet (2023), HBM3, halved
    {"480gb gh200|120gb gh200", {"GH200 96GB", 67, 67, 494.5, 989.5, 989.5, 1979, 4000, 0}},
    // NVIDIA GH200 Grace Hopper Superchip data sheet (2023), HBM3e, halved
    {"144g gh200 hbm3e|144gb gh200 hbm3e", {"GH200 144GB", 67, 67, 494.5, 989.5, 989.5, 1979, 4900, 0}},
    // The name does not contain the memory type.
    // NVIDIA GH200 Grace Hopper Superchip data sheet (2023), halved
    {"gh200", {"GH200", 67, 67, 494.5, 989.5, 989.5, 1979, 0, 0}},
    // NVIDIA HGX platform page, HGX B200, an eighth, halved
    {"b200", {"B200", 37, 75, 1125, 2250, 2250, 4500, 7700, 9000}},
    // NVIDIA GB200 NVL72 data sheet (2024), half of a superchip, halved
    {"gb200", {"GB200", 40, 80, 1250, 2500, 2500, 5000, 8000, 10000}},
    // NVIDIA HGX platform page (2025), HGX B300, an eighth, halved; FP4 as it gives it dense; bandwidth: Blackwell Ultra data sheet
    {"b300|b300 sxm6|ac b300 sxm6", {"B300", 1.25, 75, 1125, 2250, 2250, 4500, 7700, 13125}},
    // NVIDIA GB300 NVL72 data sheet (2025), half of a superchip, halved; FP4 as it gives it dense
    {"gb300", {"GB300", 1.4, 80, 1250, 2500, 2500, 5000, 8000, 15000}},
    // NVIDIA L4 Tensor Core GPU data sheet (2023), halved
    {"l4", {"L4", 0, 30.3, 60, 121, 121, 242.5, 300, 0}},
    // NVIDIA L20 specification as server makers print it (2023)
    {"l20", {"L20", 0, 59.8, 59.8, 119.5, 119.5, 239, 864, 0}},
    // NVIDIA L40 GPU for Data Center data sheet (2022)
    {"l40", {"L40", 0, 90.5, 90.5, 181.05, 181.05, 362, 864, 0}},
    // NVIDIA L40S GPU data sheet (2023)
    {"l40s", {"L40S", 0, 91.6, 183, 362.05, 362.05, 733, 864, 0}},
    // NVIDIA Ada GPU Architecture white paper, sums in FP32
    {"4090 rtx", {"RTX 4090", 0, 82.6, 82.6, 165.2, 165.2, 330.3, 1008, 0}},
    // NVIDIA RTX Blackwell GPU Architecture white paper, sums in FP32
    {"5090 rtx", {"RTX 5090", 0, 104.8, 104.8, 209.5, 209.5, 419, 1792, 1676}},
    // A device is one of the two dies of a card: half of the card's rates.
    // AMD Instinct MI250 Accelerator data sheet, half
    {"mi250", {"MI250, a die", 45.25, 45.25, 0, 181.05, 181.05, 0, 1638.4, 0}},
    // AMD Instinct MI250X Accelerator data sheet, half
    {"mi250x", {"MI250X, a die", 47.85, 47.85, 0, 191.5, 191.5, 0, 1638.4, 0}},
    // AMD Instinct MI210 Accelerator data sheet
    {"mi210", {"MI210", 45.3, 45.3, 0, 181, 181, 0, 1638.4, 0}},
    // AMD Instinct MI300A APU data sheet
    {"mi300a", {"MI300A", 122.6, 122.6, 490.3, 980.6, 980.6, 1961.2, 5300, 0}},
    // AMD Instinct MI300X Accelerator data sheet
    {"mi300x", {"MI300X", 163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 5300, 0}},
    // AMD Instinct MI325X GPU data sheet
    {"mi325x|mi325", {"MI325X", 163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 6000, 0}},
    // AMD Instinct MI350X GPU data sheet
    {"mi350x", {"MI350X", 72.1, 144.2, 0, 2306.9, 2306.9, 4613.7, 8000, 9227.5}},
    // AMD Instinct MI355X GPU data sheet
    {"mi355x", {"MI355X", 78.6, 157.3, 0, 2516.6, 2516.6, 5033.2, 8000, 10066.3}},
};

constexpr std::string_view kTypeNames[kMathTypes] = {"", "fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4"};

// Words that do not distinguish GPUs: makers, brands, virtual functions.
constexpr std::string_view kBrands[] = {"nvidia", "tesla", "geforce", "amd", "instinct", "vf", "oam"};

// Returns the words of the name in lower case, sorted, without brands: "NVIDIA A100-SXM4-40GB" and "A100-SXM4-40GB"
// become "40gb a100 sxm4".
std::string compared_name(std::string_view gpu) {
  std::set<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty() && std::find(std::begin(kBrands), std::end(kBrands), word) == std::end(kBrands))
      words.insert(word);
    word.clear();
  };
  for (const char c : gpu) {
    if (c == ' ' || c == '-' || c == '_') {
      end_word();
    } else {
      word += lower(c);
    }
  }
  end_word();
  return fmt::format("{}", fmt::join(words, " "));
}

template <typename Take>
void each_name(std::string_view names, const Take& take) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find('|'), names.size());
    take(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

constexpr double GpuPeaks::*kRates[kMathTypes] = {nullptr,         &GpuPeaks::fp64, &GpuPeaks::fp32, &GpuPeaks::tf32,
                                                  &GpuPeaks::fp16, &GpuPeaks::bf16, &GpuPeaks::fp8,  &GpuPeaks::fp4};

}  // namespace

std::string_view math_type_name(MathType type) { return kTypeNames[static_cast<std::size_t>(type)]; }

std::optional<MathType> math_type_of_name(std::string_view name) {
  const auto found = std::find(std::begin(kTypeNames) + 1, std::end(kTypeNames), name);
  return found == std::end(kTypeNames) ? std::nullopt
                                       : std::optional(static_cast<MathType>(found - std::begin(kTypeNames)));
}

double GpuPeaks::tflop_per_s(MathType type) const {
  return type == MathType::unknown ? 0 : this->*kRates[static_cast<std::size_t>(type)];
}

std::int64_t GpuPeaks::computing_ns(std::int64_t flop, MathType type) const {
  const double peak = type == MathType::fp32 ? std::max(fp32, tf32) : tflop_per_s(type);
  return peak > 0 ? static_cast<std::int64_t>(static_cast<double>(flop) / (peak * 1e3)) : 0;
}

const GpuPeaks* peaks_of(std::string_view gpu) {
  const std::string name = "|" + compared_name(gpu) + "|";
  for (const Chip& chip : kChips) {
    if (fmt::format("|{}|", chip.names).find(name) != std::string::npos) return &chip.peaks;
  }
  return nullptr;
}

std::string_view gpu_name(const Process& process, std::int64_t device) {
  const auto told =
      std::find_if(process.devices.begin(), process.devices.end(), [&](const Device& d) { return d.device == device; });
  return told != process.devices.end() ? std::string_view(told->name) : std::string_view(process.device_name);
}

const GpuPeaks* peaks_of(const Process& process, std::int64_t device) { return peaks_of(gpu_name(process, device)); }

std::vector<std::string> gpus_with_peaks() {
  std::vector<std::string> names;
  for (const Chip& chip : kChips) each_name(chip.names, [&](std::string_view name) { names.emplace_back(name); });
  return names;
}

double ridge(const GpuPeaks& gpu, MathType type) {
  return gpu.memory_gb_per_s > 0 ? 1000 * gpu.tflop_per_s(type) / gpu.memory_gb_per_s : 0;
}

OwnPeaks own_peaks_of(const std::vector<std::string>& tflops, double gb_per_s) {
  OwnPeaks own;
  own.memory_gb_per_s = gb_per_s;
  for (const std::string& word : tflops) {
    const std::size_t equals = word.find('=');
    const auto type =
        equals == word.npos ? MathType::unknown : math_type_of_name(std::string_view(word).substr(0, equals));
    const std::string_view number = std::string_view(word).substr(equals == word.npos ? 0 : equals + 1);
    double value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (!type || error != std::errc() || end != number.data() + number.size() || !(value > 0) ||
        !std::isfinite(value)) {
      throw Error(
          Exit::usage,
          fmt::format(
              "--peak-tflops {}: expected a positive number, or TYPE=N with a TYPE of fp64, fp32, tf32, fp16, bf16, fp8, fp4",
              word));
    }
    own.tflop_per_s[static_cast<std::size_t>(*type)] = value;
  }
  return own;
}

const DevicePeaks::Found& DevicePeaks::found(ProcessId process, std::int64_t device) {
  const auto [place, is_new] = devices_.try_emplace({process, device});
  if (is_new) {
    const GpuPeaks* hardware = peaks_of(catalog_.processes[process], device);
    place->second = {hardware, with_own(hardware)};
  }
  return place->second;
}

const GpuPeaks* DevicePeaks::with_own(const GpuPeaks* hardware) {
  const bool any = own_ != nullptr && (own_->memory_gb_per_s > 0 ||
                                       std::ranges::any_of(own_->tflop_per_s, [](double each) { return each > 0; }));
  if (!any) return hardware;
  const auto [place, is_new] = merged_.try_emplace(hardware, hardware != nullptr ? *hardware : GpuPeaks{});
  if (is_new) {
    GpuPeaks& peaks = place->second;
    const double every = own_->tflop_per_s[0];
    for (std::size_t i = 1; i < kMathTypes; ++i) {
      if (own_->tflop_per_s[i] > 0) {
        peaks.*kRates[i] = own_->tflop_per_s[i];
      } else if (every > 0 && (hardware == nullptr || hardware->*kRates[i] > 0)) {
        peaks.*kRates[i] = every;
      }
    }
    if (own_->memory_gb_per_s > 0) peaks.memory_gb_per_s = own_->memory_gb_per_s;
  }
  return &place->second;
}

std::vector<std::string> DevicePeaks::without_peaks() const {
  std::set<std::string> names;
  for (const auto& [key, found] : devices_) {
    if (found.peaks != nullptr) continue;
    const std::string_view name = gpu_name(catalog_.processes[key.first], key.second);
    names.insert(name.empty() ? "a GPU without a name" : std::string(name));
  }
  return {names.begin(), names.end()};
}

}  // namespace cli
