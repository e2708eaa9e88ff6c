#include "cli/analyze/gpu_peaks.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace cli {
namespace {

// Sources, by line: NVIDIA Tesla V100 data sheet (2020); T4 data sheet; A100 data sheet (2021); A10, A40 data sheets; H100 Tensor
// Core GPU data sheet (2023) and H100 architecture white paper; H200 data sheet; HGX B200 data sheet; L4 and L40S data sheets;
// Ada architecture white paper (RTX 4090, sums in FP32); AMD Instinct MI300X data sheet. Where a sheet gives rates with
// sparsity, half of them.
constexpr GpuPeaks kPeaks[] = {
    //                              fp64   fp32   tf32   fp16    bf16    fp8     GB/s
    {"Tesla V100-SXM2-16GB",        7.8,   15.7,  0,     125,    0,      0,      900},
    {"Tesla V100-SXM2-32GB",        7.8,   15.7,  0,     125,    0,      0,      900},
    {"Tesla V100-PCIE-16GB",        7.0,   14.0,  0,     112,    0,      0,      900},
    {"Tesla V100-PCIE-32GB",        7.0,   14.0,  0,     112,    0,      0,      900},
    {"Tesla T4",                    0,     8.1,   0,     65,     0,      0,      320},
    {"NVIDIA A100-SXM4-40GB",       19.5,  19.5,  156,   312,    312,    0,      1555},
    {"NVIDIA A100-SXM4-80GB",       19.5,  19.5,  156,   312,    312,    0,      2039},
    {"NVIDIA A100-PCIE-40GB",       19.5,  19.5,  156,   312,    312,    0,      1555},
    {"NVIDIA A100 80GB PCIe",       19.5,  19.5,  156,   312,    312,    0,      1935},
    {"NVIDIA A10",                  0,     31.2,  62.5,  125,    125,    0,      600},
    {"NVIDIA A40",                  0,     37.4,  74.8,  149.7,  149.7,  0,      696},
    {"NVIDIA H100 80GB HBM3",       67,    67,    494.5, 989.5,  989.5,  1979,   3350},
    {"NVIDIA H100 PCIe",            51,    51,    378,   756.5,  756.5,  1513,   2000},
    {"NVIDIA H100 NVL",             60,    60,    417.5, 835.5,  835.5,  1670.5, 3900},
    {"NVIDIA H200",                 67,    67,    494.5, 989.5,  989.5,  1979,   4800},
    {"NVIDIA B200",                 37,    75,    1100,  2250,   2250,   4500,   7700},
    {"NVIDIA L4",                   0,     30.3,  60,    121,    121,    242.5,  300},
    {"NVIDIA L40S",                 0,     91.6,  183,   362.05, 362.05, 733,    864},
    {"NVIDIA GeForce RTX 4090",     0,     82.6,  82.6,  165.2,  165.2,  330.3,  1008},
    {"AMD Instinct MI300X",         163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 5300},
};

constexpr std::string_view kNames[] = {"", "fp64", "fp32", "tf32", "fp16", "bf16", "fp8"};

}  // namespace

std::string_view math_type_name(MathType type) { return kNames[static_cast<std::size_t>(type)]; }

double GpuPeaks::tflop_per_s(MathType type) const {
  const std::array all{0.0, fp64, fp32, tf32, fp16, bf16, fp8};
  return all[static_cast<std::size_t>(type)];
}

const GpuPeaks* peaks_of(std::string_view gpu) {
  const auto found = std::find_if(std::begin(kPeaks), std::end(kPeaks), [&](const GpuPeaks& peaks) { return peaks.name == gpu; });
  return found == std::end(kPeaks) ? nullptr : &*found;
}

const GpuPeaks* peaks_of(const Process& process, std::int64_t device) {
  const auto told = std::find_if(process.devices.begin(), process.devices.end(), [&](const Device& d) { return d.device == device; });
  return peaks_of(told != process.devices.end() ? told->name : process.device_name);
}

double ridge(const GpuPeaks& gpu, MathType type) {
  return gpu.memory_gb_per_s > 0 ? 1000 * gpu.tflop_per_s(type) / gpu.memory_gb_per_s : 0;
}

}  // namespace cli
