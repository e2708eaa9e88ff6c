#include "cli/doctor/agent_file.h"

#include <elf.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

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
