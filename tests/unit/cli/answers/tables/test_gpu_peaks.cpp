// Names that CUDA and ROCm give GPUs, and the peaks of their data sheets; the user's own peaks.
#include <set>
#include <string>

#include "cli/answers/tables/gpu_peaks.h"
#include "cli/base/error.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

struct NamedGpu {
  const char* name;
  double bf16_or_fp16, memory_gb_per_s;
};

constexpr NamedGpu kGpus[] = {
    {"Tesla V100-SXM2-16GB", 125, 900},
    {"Tesla V100-SXM2-32GB", 125, 900},
    {"V100-SXM2-32GB", 125, 900},
    {"Tesla V100-SXM3-32GB", 125, 900},
    {"Tesla V100-DGXS-32GB", 125, 900},
    {"Tesla V100-PCIE-16GB", 112, 900},
    {"Tesla V100S-PCIE-32GB", 130, 1134},
    {"Tesla T4", 65, 320},
    {"NVIDIA A100-SXM4-40GB", 312, 1555},
    {"A100-SXM4-40GB", 312, 1555},
    {"A100-SXM4-80GB", 312, 2039},
    {"NVIDIA_A100-SXM4-80GB", 312, 2039},
    {"NVIDIA A100-PCIE-40GB", 312, 1555},
    {"NVIDIA A100-PCIe-40GB", 312, 1555},
    {"NVIDIA A100 80GB PCIe", 312, 1935},
    {"NVIDIA A800-SXM4-80GB", 312, 2039},
    {"NVIDIA A800-SXM4-40GB", 312, 1555},
    {"NVIDIA A800 80GB PCIe", 312, 1935},
    {"NVIDIA A800", 312, 0},
    {"NVIDIA A10", 125, 600},
    {"NVIDIA A30", 165, 933},
    {"NVIDIA A40", 149.7, 696},
    {"NVIDIA RTX A6000", 154.8, 768},
    {"NVIDIA GeForce RTX 3090", 71, 936},
    {"NVIDIA GeForce RTX 4090", 165.2, 1008},
    {"NVIDIA GeForce RTX 5090", 209.5, 1792},
    {"NVIDIA H100 80GB HBM3", 989.5, 3350},
    {"NVIDIA H100 PCIe", 756.5, 2000},
    {"NVIDIA H100 NVL", 835.5, 3900},
    {"NVIDIA H800", 989.5, 3350},
    {"NVIDIA H800 PCIe", 756.5, 2000},
    {"NVIDIA H20", 148, 4000},
    {"NVIDIA H20-3e", 148, 4800},
    {"NVIDIA H200", 989.5, 4800},
    {"NVIDIA H200 NVL", 835.5, 4800},
    {"NVIDIA GH200 480GB", 989.5, 4000},
    {"NVIDIA GH200 120GB", 989.5, 4000},
    {"NVIDIA GH200 144G HBM3e", 989.5, 4900},
    {"NVIDIA GH200", 989.5, 0},
    {"NVIDIA B200", 2250, 7700},
    {"NVIDIA GB200", 2500, 8000},
    {"NVIDIA B300 SXM6 AC", 2250, 7700},
    {"NVIDIA GB300", 2500, 8000},
    {"NVIDIA L4", 121, 300},
    {"NVIDIA L20", 119.5, 864},
    {"NVIDIA L40", 181.05, 864},
    {"NVIDIA L40S", 362.05, 864},
    {"AMD Instinct MI210", 181, 1638.4},
    {"AMD Instinct MI250X", 191.5, 1638.4},
    {"AMD Instinct MI300A", 980.6, 5300},
    {"AMD Instinct MI300X", 1307.4, 5300},
    {"AMD Instinct MI300X VF", 1307.4, 5300},
    {"AMD_Instinct_MI300X_OAM", 1307.4, 5300},
    {"MI300X", 1307.4, 5300},
    {"AMD Instinct MI325X", 1307.4, 6000},
    {"AMD Instinct MI350X", 2306.9, 8000},
    {"AMD Instinct MI355X", 2516.6, 8000},
};

Catalog one_gpu(const char* name) {
  Catalog catalog;
  catalog.processes.emplace_back();
  catalog.processes[0].devices.emplace_back();
  catalog.processes[0].devices[0].device = 0;
  catalog.processes[0].devices[0].name = name;
  return catalog;
}

std::string refused_peaks(const std::vector<std::string>& tflops) {
  try {
    own_peaks_of(tflops, 0);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("gpu peaks: by the names that CUDA and ROCm give") {
  for (const NamedGpu& gpu : kGpus) {
    INFO(gpu.name);
    const GpuPeaks* peaks = peaks_of(gpu.name);
    REQUIRE(peaks != nullptr);
    CHECK((peaks->bf16 > 0 ? peaks->bf16 : peaks->fp16) == gpu.bf16_or_fp16);
    CHECK(peaks->memory_gb_per_s == gpu.memory_gb_per_s);
  }
}

TEST_CASE("gpu peaks: a GPU that is not known, or part of one, has none") {
  for (const char* name :
       {"", "NVIDIA", "NVIDIA H999", "NVIDIA H100", "NVIDIA A100-SXM4-40GB MIG 3g.20gb",
        "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 4090 D", "NVIDIA GeForce RTX 3090 Ti",
        "Quadro RTX 6000", "AMD Instinct MI250X / MI250", "AMD Radeon Graphics", "NVIDIA H100 80GB HBM3 NVL"}) {
    INFO(name);
    CHECK(peaks_of(name) == nullptr);
  }
}

TEST_CASE("gpu peaks: no name stands for two rows, and each is found") {
  std::set<std::string> names;
  for (const std::string& name : gpus_with_peaks()) {
    INFO(name);
    CHECK(names.insert(name).second);
    CHECK(peaks_of(name) != nullptr);
  }
  CHECK(names.size() > 40);
}

TEST_CASE("gpu peaks: the user's own") {
  const Catalog known = one_gpu("NVIDIA H100 80GB HBM3"), other = one_gpu("NVIDIA H999");
  DevicePeaks table(known, nullptr);
  CHECK(table.of(0, 0) == peaks_of("NVIDIA H100 80GB HBM3"));
  CHECK(table.without_peaks().empty());
  DevicePeaks none(other, nullptr);
  CHECK(none.of(0, 0) == nullptr);
  CHECK(none.without_peaks() == std::vector<std::string>{"NVIDIA H999"});

  const OwnPeaks own = own_peaks_of({"400", "fp8=900"}, 1500);
  DevicePeaks of_other(other, &own);
  CHECK(
      (of_other.of(0, 0)->bf16 == 400 && of_other.of(0, 0)->fp8 == 900 && of_other.of(0, 0)->memory_gb_per_s == 1500));
  CHECK((of_other.hardware(0, 0) == nullptr && of_other.without_peaks().empty()));
  // A number alone is for types that the GPU has: an H100 has no FP4.
  DevicePeaks of_known(known, &own);
  CHECK((of_known.of(0, 0)->bf16 == 400 && of_known.of(0, 0)->fp4 == 0 && of_known.hardware(0, 0)->bf16 == 989.5));
  const OwnPeaks bandwidth = own_peaks_of({}, 3000);
  DevicePeaks slower(known, &bandwidth);
  CHECK((slower.of(0, 0)->bf16 == 989.5 && slower.of(0, 0)->memory_gb_per_s == 3000));

  for (const char* word :
       {"", "x", "0", "-1", "bf16", "bf16=", "bf16=x", "int8=3", "=3", "1e999", "3x", "nan", "inf"}) {
    INFO(word);
    CHECK(refused_peaks({word}).find("--peak-tflops") == 0);
  }
}
