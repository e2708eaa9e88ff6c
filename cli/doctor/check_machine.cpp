#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdlib>

#include "cli/doctor/checks.h"
#include "cli/doctor/injection.h"
#include "common/settings.h"

namespace cli::doctor {
namespace {

// In the agent's search order; the toolkit is last.
constexpr const char* kDrivers[] = {"libcuda.so.1"};
constexpr const char* kCupti[] = {"libcupti.so.13",
                                  "libcupti.so.12",
                                  "libcupti.so.11.8",
                                  "libcupti.so",
                                  "/usr/local/cuda/lib64/libcupti.so",
                                  "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};

// Returns the path at which the loader finds the first of the libraries; "" if it finds none. Loads the library,
// because only the loader has its path.
template <std::size_t Count>
std::string loaded_path(const char* const (&names)[Count]) {
  for (const char* name : names) {
    void* handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    link_map* map = nullptr;
    if (handle != nullptr && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) return map->l_name;
  }
  return {};
}

CheckResult check_agent(std::string& path) {
  std::string searched;
  path = find_agent(searched);
  if (path.empty())
    return fail("agent", fmt::format("libagent.so was not found: {}", searched),
                "put it next to tracetool, or set TRACETOOL_AGENT to its path");
  if (const std::string wrong = wrong_with_agent(path); !wrong.empty())
    return fail("agent", fmt::format("{} {}", path, wrong), "use the libagent.so that came with this tracetool");
  return ok("agent", path);
}

CheckResult check_shell(const std::string& agent) {
  if (const char* off = std::getenv("TRACETOOL_DISABLE"); off != nullptr && *off != '\0' && std::string(off) != "0")
    return fail("variables", fmt::format("TRACETOOL_DISABLE={}: the agent is disabled", off),
                "unset TRACETOOL_DISABLE");
  InjectionOptions options;
  options.agent = agent;
  const Injection plan = plan_injection(options, [](const char* name) { return std::getenv(name); });
  if (!plan.refused.empty()) return warn("variables", "CUDA_INJECTION64_PATH names another tool", plan.refused);
  if (!plan.warning.empty()) return warn("variables", "NVTX_INJECTION64_PATH names another tool", plan.warning);
  return ok("variables", "the injection variables of CUDA and NVTX are free in this shell");
}

CheckResult check_driver() {
  const std::string path = loaded_path(kDrivers);
  if (!path.empty()) return ok("driver", path);
  return warn(
      "driver", "no NVIDIA driver (libcuda.so.1)",
      "record on a machine where nvidia-smi works; start a container with GPUs. Reading traces needs no driver");
}

CheckResult check_cupti_file() {
  trace::Settings settings;
  const char* variable = std::getenv("TRACETOOL_CUPTI");
  if (variable != nullptr) trace::find_setting("TRACETOOL_CUPTI")->set(settings, variable);
  if (const char* given = settings.cupti; *given != '\0') {
    if (dlopen(given, RTLD_LAZY | RTLD_LOCAL) != nullptr) return ok("cupti", fmt::format("TRACETOOL_CUPTI={}", given));
    return fail("cupti", fmt::format("TRACETOOL_CUPTI={} cannot be loaded: {}", given, dlerror()),
                "correct or unset it");
  }
  const std::string path = loaded_path(kCupti);
  if (!path.empty()) return ok("cupti", path);
  return warn("cupti", "no libcupti in the paths of the loader and the CUDA toolkit",
              "PyTorch brings its own copy; for other programs install the toolkit's CUPTI, or set TRACETOOL_CUPTI");
}

}  // namespace

CheckResults check_machine(const std::string& directory) {
  std::string agent;
  CheckResults found{check_agent(agent)};
  found.push_back(check_shell(agent));
  found.push_back(check_driver());
  found.push_back(check_cupti_file());
  for (CheckResult& each : check_output_directory(directory, ring_bytes_wanted())) found.push_back(std::move(each));
  return found;
}

}  // namespace cli::doctor
