// What names say of what is called so; NameClasses looks it up once per string.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/model/catalog.h"
#include "cli/model/derived.h"

namespace cli {

// A kernel of NCCL or its kin (RCCL, MSCCL, oneCCL): its function's name begins with theirs, mangled or demangled.
bool is_comm_name(std::string_view kernel);

// A kernel that is a matrix product of cuBLAS, CUTLASS, Triton's templates or rocBLAS (Tensile); mangled or demangled.
bool is_gemm_name(std::string_view kernel);

// Which way a copy goes, by the words of CUPTI and Kineto ("Memcpy HtoD (Pinned -> Device)"; arrays count as the
// device) and of HIP ("CopyHostToDevice"). None within the host.
std::optional<DerivedRow> copy_row(std::string_view name);

// Calls that put work into a queue of the GPU: cudaLaunchKernelExC, cuLaunchKernel, cudaGraphLaunch, cudaMemcpyAsync,
// cuMemsetD32Async, hipModuleLaunchKernel, ... Host functions are not the GPU's.
bool is_launch_name(std::string_view call);

// The kind of an arrow from a launch to its work, as Kineto names it.
bool is_launch_flow_name(std::string_view category);

class NameClasses {
 public:
  explicit NameClasses(const Strings& strings) : strings_(&strings) {}

  struct Class {
    bool known = false, communicates = false, launches = false, ends_nccl_group = false;
    std::optional<DerivedRow> copy;
  };
  const Class& operator[](StringId name) {
    return name < classes_.size() && classes_[name].known ? classes_[name] : learn(name);
  }

 private:
  const Class& learn(StringId name);

  const Strings* strings_;
  std::vector<Class> classes_;
};

}  // namespace cli
