#include "cli/doctor/injection.h"

#include <elf.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/base/text.h"
#include "common/filesystems.h"
#include "common/known_tools.h"
#include "common/settings.h"

namespace cli::doctor {

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

// Returns the library that a variable names if it is not our agent; "" if the variable is free.
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

void look_at_filesystem(OutputDirectory& directory) {
  struct statfs info;
  if (statfs(directory.existing.c_str(), &info) != 0) return;
  const auto type = static_cast<std::uint64_t>(info.f_type) & 0xffffffff;
  directory.filesystem = fmt::format("filesystem {:#x}", type);
  directory.free_bytes = static_cast<std::uint64_t>(info.f_bavail) * static_cast<std::uint64_t>(info.f_bsize);
  directory.takes_files = info.f_files == 0 || info.f_ffree > 0;
  if (const trace::Filesystem* known = trace::filesystem_of(type)) {
    directory.filesystem = known->name;
    directory.maps_in_place = known->maps_in_place;
  }
}

std::string where_it_is(const std::string& path, const OutputDirectory& directory) {
  return fmt::format("{}, {}, {} free", path, directory.filesystem, bytes_text(directory.free_bytes));
}

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
        "{} is already set, so NVTX ranges and NCCL calls are not recorded; unset {}, or overwrite it with --force",
        nvtx, kNvtx);
  }
  if (options.preload)
    plan.variables.emplace_back("LD_PRELOAD", preload_with(value_of(variable, "LD_PRELOAD"), options.agent));
  plan.variables.emplace_back("TRACETOOL_DIR", directory_of(options, variable));
  plan.variables.insert(plan.variables.end(), options.settings.begin(), options.settings.end());
  return plan;
}

OutputDirectory look_at(const std::string& path) {
  OutputDirectory directory;
  std::error_code error;
  fs::path at = fs::absolute(path, error).lexically_normal();
  while (!fs::exists(at, error) && at.has_parent_path() && at.parent_path() != at) at = at.parent_path();
  directory.existing = at.string();
  directory.is_directory = fs::is_directory(at, error);
  directory.writable = directory.is_directory && access(at.c_str(), W_OK | X_OK) == 0;
  look_at_filesystem(directory);
  return directory;
}

std::uint64_t file_size_limit() {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
}

std::uint64_t ring_bytes_wanted() {
  trace::Settings settings;
  const char* text = std::getenv("TRACETOOL_BUFFER");
  if (text != nullptr && !trace::find_setting("TRACETOOL_BUFFER")->set(settings, text))
    return trace::Settings().ring_bytes;
  return settings.ring_bytes;
}

CheckResults check_output_directory(const std::string& path, std::uint64_t ring_bytes) {
  const OutputDirectory directory = look_at(path);
  if (!directory.is_directory)
    return {fail("directory", fmt::format("{} is not a directory", directory.existing),
                 "choose a directory with TRACETOOL_DIR or -o")};
  if (!directory.writable)
    return {fail("directory", fmt::format("you have no permission to write {}", directory.existing),
                 "set TRACETOOL_DIR (or record -o) to a directory that you can write to")};
  const std::string where = where_it_is(path, directory);
  if (directory.free_bytes < ring_bytes)
    return {fail("directory", fmt::format("{}: a ring needs {}", where, bytes_text(ring_bytes)),
                 "free disk space, or reduce TRACETOOL_BUFFER")};
  if (!directory.takes_files)
    return {fail("directory", fmt::format("{}, but no free inode: no file can be created", where),
                 "delete files, or set TRACETOOL_DIR to another disk")};
  if (file_size_limit() < ring_bytes)
    return {fail("directory",
                 fmt::format("files are limited to {} (ulimit -f), but a ring needs {}", bytes_text(file_size_limit()),
                             bytes_text(ring_bytes)),
                 "raise the limit, or reduce TRACETOOL_BUFFER")};
  if (!directory.maps_in_place)
    return {warn("directory", fmt::format("{}: this file system cannot map a ring", where),
                 "set TRACETOOL_DIR to local storage (ext4, xfs, tmpfs)")};
  return {ok("directory", fmt::format("{}; a ring needs {}", where, bytes_text(ring_bytes)))};
}

CheckResults check_used_directory(const std::string& path, std::uint64_t ring_bytes, bool is_live) {
  const OutputDirectory directory = look_at(path);
  const std::string where = where_it_is(path, directory) + (directory.writable ? "" : ", not writable by this user");
  if (!is_live || directory.free_bytes >= ring_bytes) return {ok("directory", where)};
  return {warn("directory", fmt::format("{}: another ring needs {}", where, bytes_text(ring_bytes)),
               "running recordings have their space; free more before you start others or use a spool")};
}

}  // namespace cli::doctor
