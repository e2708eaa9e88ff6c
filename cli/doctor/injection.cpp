#include "cli/doctor/injection.h"

#include <elf.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/known_tools.h"

namespace cli {
namespace {

namespace fs = std::filesystem;

#if defined(__aarch64__)
constexpr std::uint16_t kMachine = EM_AARCH64;
constexpr const char* kMultiarch = "../lib/aarch64-linux-gnu/tracetool";
constexpr const char* kMachineName = "aarch64";
#else
constexpr std::uint16_t kMachine = EM_X86_64;
constexpr const char* kMultiarch = "../lib/x86_64-linux-gnu/tracetool";
constexpr const char* kMachineName = "x86-64";
#endif
constexpr const char* kDirectories[] = {".", "../lib/tracetool", kMultiarch, "../lib64/tracetool", "../agent"};
constexpr const char* kEntries[] = {"InitializeInjection", "InitializeInjectionNvtx2"};

}  // namespace

std::string find_agent(std::string& searched) {
  std::error_code error;
  if (const char* given = std::getenv("TRACETOOL_AGENT"); given != nullptr && given[0] != '\0') {
    searched = fmt::format("TRACETOOL_AGENT={}", given);
    const fs::path path = fs::absolute(given, error);
    return fs::is_regular_file(path, error) ? path.lexically_normal().string() : "";
  }
  const fs::path own = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* directory : kDirectories) {
    const fs::path path = (own / directory / "libagent.so").lexically_normal();
    searched += (searched.empty() ? "" : ", ") + path.parent_path().string();
    if (fs::is_regular_file(path, error)) return path.string();
  }
  return {};
}

std::string wrong_with_agent(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fmt::format("cannot be read: {}", std::strerror(errno));
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  Elf64_Ehdr head{};
  std::memcpy(&head, bytes.data(), std::min(bytes.size(), sizeof(head)));
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_type != ET_DYN) return "is not a shared library";
  if (head.e_machine != kMachine) return fmt::format("is not built for this machine ({})", kMachineName);
  for (const char* entry : kEntries) {
    if (bytes.find(std::string(1, '\0') + entry + '\0') == bytes.npos) return fmt::format("lacks {}", entry);
  }
  return {};
}

}  // namespace cli

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
