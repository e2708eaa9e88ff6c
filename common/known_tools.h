// Tools that want CUPTI or the CUDA injection for themselves, by the libraries that they bring.
#pragma once
#include <string_view>

namespace trace {

struct KnownTool {
  std::string_view part;  // of the path of its library
  std::string_view name;
};
// Where a part begins another one the longer stands first.
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

// "Nsight Systems" for ".../libToolsInjection64.so"; "" for none of those that we know.
constexpr std::string_view tool_of(std::string_view library) {
  for (const KnownTool& tool : kKnownTools) {
    if (library.find(tool.part) != library.npos) return tool.name;
  }
  return {};
}
// Of a library that a process has loaded, of which only the file's name counts: many things lie below a tool's directory.
constexpr std::string_view tool_of_loaded(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);  // substr() may throw, and the agent has no exceptions
  return tool_of(path);
}
static_assert(tool_of_loaded("/opt/nsight-systems/lib/libcupti.so.13").empty());
static_assert(tool_of("/opt/libInterceptorInjectionTarget.so") == "compute-sanitizer");
static_assert(tool_of("/opt/libInterceptorInjection64.so") == "Nsight Compute");

}  // namespace trace
