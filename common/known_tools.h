// Tools that use CUPTI or the CUDA injection themselves, recognized by their libraries.
#pragma once
#include <string_view>

namespace trace {

struct KnownTool {
  std::string_view part;  // part of the library's path
  std::string_view name;
};
// If one part begins with another, the longer one comes first.
inline constexpr KnownTool kKnownTools[] = {
    {"libToolsInjection", "Nsight Systems"},
    {"nsight-systems", "Nsight Systems"},
    {"libcuda-injection", "Nsight Compute"},
    {"libInterceptorInjectionTarget", "compute-sanitizer"},
    {"libInterceptorInjection", "Nsight Compute"},
    {"nsight-compute", "Nsight Compute"},
    {"libsanitizer-collection", "compute-sanitizer"},
    {"libcudadebugger", "cuda-gdb"},
    {"libparcagpu", "parcagpu"},
    {"libprofiler_injection", "a profiler"},
};

// Returns "Nsight Systems" for ".../libToolsInjection64.so"; "" for unknown libraries.
constexpr std::string_view tool_of(std::string_view library) {
  for (const KnownTool& tool : kKnownTools) {
    if (library.find(tool.part) != library.npos) return tool.name;
  }
  return {};
}
// The same for a loaded library. Only the file name counts, because a tool's directory contains many other files.
constexpr std::string_view tool_of_loaded(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);  // substr() may throw, and the agent has no exceptions
  return tool_of(path);
}
static_assert(tool_of_loaded("/opt/nsight-systems/lib/libcupti.so.13").empty());
static_assert(tool_of("/opt/libInterceptorInjectionTarget.so") == "compute-sanitizer");
static_assert(tool_of("/opt/libInterceptorInjection64.so") == "Nsight Compute");

}  // namespace trace
