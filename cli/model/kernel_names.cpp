#include "cli/model/kernel_names.h"

#include <algorithm>
#include <array>

#include "cli/model/characters.h"

namespace cli {
namespace {


// `word` is in lower case.
bool contains(std::string_view text, std::string_view word) {
  return std::search(text.begin(), text.end(), word.begin(), word.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end();
}

constexpr std::array<std::string_view, 8> kGemmWords{"gemm",      "gemv",       "nvjet_",      "xmma_",
                                                     "triton_mm", "triton_bmm", "triton_tem_", "cijk_a"};

}  // namespace

bool is_nccl_name(std::string_view kernel) {
  return kernel.substr(0, 4) == "nccl" || kernel.substr(0, 5) == "msccl" || kernel.find("ncclKernel") != kernel.npos ||
         kernel.find("ncclDevKernel") != kernel.npos;
}

bool is_gemm_name(std::string_view kernel) {
  return std::any_of(kGemmWords.begin(), kGemmWords.end(), [&](auto word) { return contains(kernel, word); });
}

}  // namespace cli
