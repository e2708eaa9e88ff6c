// What a kernel is for, as far as its name tells. Names may be mangled or demangled; ASCII.
#pragma once
#include <string_view>

namespace cli {

// A collective, or send and receive, of NCCL or RCCL: ncclKernel_..., ncclDevKernel_..., ncclSymk...; and MSCCL's,
// which RCCL brings along: mscclKernel_..., mscclRunInterpreter.
bool is_nccl_name(std::string_view kernel);

// A matrix product of cuBLAS, CUTLASS, Triton's templates or rocBLAS (Tensile).
bool is_gemm_name(std::string_view kernel);

}  // namespace cli
