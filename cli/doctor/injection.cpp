#include "cli/doctor/injection.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/known_tools.h"

namespace cli {
namespace {

namespace fs = std::filesystem;
constexpr const char* kCuda = "CUDA_INJECTION64_PATH";
constexpr const char* kNvtx = "NVTX_INJECTION64_PATH";

std::string value_of(const GetVariable& variable, const char* name) {
  const char* value = variable(name);
  return value == nullptr ? "" : value;
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || fs::equivalent(a, b, error);
}

// Whose library a variable names, where it is not ours; "" when it is free.
std::string holder(const GetVariable& variable, const char* name, const std::string& agent) {
  const std::string value = value_of(variable, name);
  if (value.empty() || same_file(value, agent)) return {};
  const std::string_view tool = trace::tool_of(value);
  return tool.empty() ? fmt::format("{}={}", name, value) : fmt::format("{}={} ({})", name, value, tool);
}

std::string preload_with(const std::string& before, const std::string& agent) {
  if (before.empty()) return agent;
  return before.find(agent) == before.npos ? agent + ":" + before : before;
}

std::string directory_of(const InjectionOptions& options, const GetVariable& variable) {
  std::string directory = options.directory.empty() ? value_of(variable, "TRACETOOL_DIR") : options.directory;
  if (directory.empty()) directory = "traces";
  return fs::absolute(directory).lexically_normal().string();
}

}  // namespace

Injection plan_injection(const InjectionOptions& options, const GetVariable& variable) {
  Injection plan;
  const std::string cuda = holder(variable, kCuda, options.agent), nvtx = holder(variable, kNvtx, options.agent);
  if (!cuda.empty() && !options.force) {
    plan.refused = fmt::format(
        "{} is already set, and CUDA injects only one tool; run CMD without `tracetool record` "
        "to use the other tool, unset {} to record, or overwrite it with --force",
        cuda, kCuda);
    return plan;
  }
  plan.variables.emplace_back(kCuda, options.agent);
  if (nvtx.empty() || options.force) {
    plan.variables.emplace_back(kNvtx, options.agent);
  } else {
    plan.warning = fmt::format(
        "{} is already set, so NVTX ranges and NCCL calls are not recorded; unset {}, "
        "or overwrite it with --force",
        nvtx, kNvtx);
  }
  if (options.preload) {
    plan.variables.emplace_back("LD_PRELOAD", preload_with(value_of(variable, "LD_PRELOAD"), options.agent));
  }
  plan.variables.emplace_back("TRACETOOL_DIR", directory_of(options, variable));
  plan.variables.insert(plan.variables.end(), options.settings.begin(), options.settings.end());
  return plan;
}

}  // namespace cli
