#include "cli/doctor/other_tools.h"

namespace cli {
namespace {

struct Tool {
  std::string_view part;  // of the path of its library
  std::string_view name;
};
constexpr Tool kTools[] = {
    {"libToolsInjection", "Nsight Systems"},
    {"nsight-systems", "Nsight Systems"},
    {"libcuda-injection", "Nsight Compute"},
    {"libInterceptorInjection", "Nsight Compute"},
    {"nsight-compute", "Nsight Compute"},
    {"libsanitizer-collection", "compute-sanitizer"},
    {"libInterceptorInjectionTarget", "compute-sanitizer"},
    {"libcudadebugger", "cuda-gdb"},
    {"libparcagpu", "parcagpu"},
    {"libprofiler_injection", "a profiler"},
};

}  // namespace

std::string_view tool_of(std::string_view library) {
  for (const Tool& tool : kTools) {
    if (library.find(tool.part) != library.npos) return tool.name;
  }
  return {};
}

}  // namespace cli
