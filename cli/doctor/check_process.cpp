#include "cli/doctor/check_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/base/terminal.h"
#include "cli/doctor/check_recording.h"
#include "cli/doctor/checks.h"
#include "cli/doctor/injection.h"
#include "common/known_tools.h"
#include "common/settings.h"

namespace cli::doctor {

namespace {

namespace fs = std::filesystem;

// Returns the contents of a file in /proc; sets `error` if it cannot be read.
std::string slurp(const std::string& path, std::string& error) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    error = std::strerror(errno);
    return text;
  }
  char piece[1 << 16];
  ssize_t got;
  while ((got = read(file, piece, sizeof(piece))) > 0) text.append(piece, static_cast<std::size_t>(got));
  if (got < 0) error = std::strerror(errno);
  close(file);
  return text;
}

constexpr const char* kStart =
    "start it with `tracetool record -- CMD`, or set CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH to "
    "libagent.so's absolute path";

std::string value(const ProcessView& process, const char* name) {
  const auto found = process.variables.find(name);
  return found == process.variables.end() ? "" : found->second;
}

bool is_agent(const std::string& path) {
  return fs::path(path).filename().string().find("libagent") != std::string::npos;
}

CheckResult check_path(const std::string& path) {
  std::error_code error;
  if (path[0] != '/')
    return fail(
        "variables",
        fmt::format("CUDA_INJECTION64_PATH={} is not absolute; children in other directories cannot find it", path),
        kStart);
  if (!fs::exists(path, error))
    return fail(
        "variables",
        fmt::format("CUDA_INJECTION64_PATH={}: no such file (as seen from here; a container has its own files)", path),
        "copy libagent.so there, or correct the path");
  if (const std::string wrong = wrong_with_agent(path); !wrong.empty() && is_agent(path))
    return fail("variables", fmt::format("CUDA_INJECTION64_PATH={} {}", path, wrong),
                "use the libagent.so of this machine");
  if (!is_agent(path)) {
    const std::string_view tool = trace::tool_of(path);
    return fail("variables",
                fmt::format("CUDA_INJECTION64_PATH={} names another tool{}{}{}", path, tool.empty() ? "" : " (", tool,
                            tool.empty() ? "" : ")"),
                "CUDA injects only one tool; run the program without the other one");
  }
  return ok("variables", fmt::format("CUDA_INJECTION64_PATH={}", path));
}

void check_cupti_copies(const ProcessView& process, CheckResults& found) {
  const std::vector<std::string> copies = files_named(process, "libcupti.so");
  const std::string all = fmt::format("{}", fmt::join(copies, ", "));
  if (copies.size() > 1) {
    found.push_back(warn("cupti", fmt::format("{} copies of libcupti are loaded: {}", copies.size(), all),
                         "set TRACETOOL_CUPTI to the program's own copy, so that only one is loaded"));
  } else if (copies.size() == 1) {
    found.push_back(ok("cupti", all));
  }
}

void check_other_tools(const ProcessView& process, CheckResults& found) {
  std::vector<std::string_view> named;
  for (const std::string& file : process.files) {
    const std::string_view tool = trace::tool_of(file);
    if (tool.empty() || std::ranges::find(named, tool) != named.end()) continue;
    named.push_back(tool);
    found.push_back(
        warn("tools", fmt::format("{} is loaded in this process: {}", tool, file),
             "only one tool at a time can subscribe to CUPTI; run without this tool if GPU work is missing"));
  }
}

// Checks which PyTorch data a process with the agent is configured to record. The agent itself reports invalid values.
void check_pytorch_loaded(const ProcessView& process, CheckResults& found) {
  const std::vector<std::string> libraries = files_named(process, "libtorch_cpu.so");
  trace::Settings settings;
  const trace::Setting* const level = trace::find_setting("TRACETOOL_TORCH");
  const std::string asked = value(process, level->name);
  if (libraries.empty()) return;
  const bool is_valid = asked.empty() || level->set(settings, asked.c_str());
  found.push_back(is_valid ? ok("pytorch", fmt::format("{}, TRACETOOL_TORCH={}", libraries[0],
                                                       asked.empty() ? level->fallback : asked))
                           : warn("pytorch", fmt::format("TRACETOOL_TORCH={} is not allowed", asked),
                                  fmt::format("set it to one of: {}", level->allowed)));
}

void check_rings(const ProcessView& process, CheckResults& found) {
  std::vector<std::string> rings = process.files;
  std::erase_if(rings, [](const std::string& file) { return fs::path(file).extension() != ".ring"; });
  found.push_back(rings.empty() ? warn("recording", "has no recording open",
                                       "it starts with the first CUDA context; if the process has one, look for "
                                       "`tracetool:` in the program's stderr")
                                : ok("recording", rings[0]));
  for (const std::string& ring : rings) {
    try {
      for (CheckResult& result : check_recording(read_recording(ring), wall_clock_ns()))
        found.push_back(std::move(result));
    } catch (const Error& wrong) {
      found.push_back(
          warn("recording", wrong.what(), "run `tracetool doctor DIR` on the machine where the process runs"));
    }
  }
}

}  // namespace

std::map<std::string, std::string> parse_environ(std::string_view bytes) {
  std::map<std::string, std::string> found;
  while (!bytes.empty()) {
    const std::string_view one = bytes.substr(0, bytes.find('\0'));
    bytes.remove_prefix(std::min(bytes.size(), one.size() + 1));
    if (const std::size_t equals = one.find('='); equals != one.npos)
      found.emplace(one.substr(0, equals), one.substr(equals + 1));
  }
  return found;
}

std::vector<std::string> parse_maps(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t path = line.find('/');
    if (path == line.npos) continue;
    line.remove_prefix(path);
    if (std::ranges::find(found, line) == found.end()) found.emplace_back(line);
  }
  return found;
}

std::vector<std::string> files_named(const ProcessView& process, std::string_view beginning) {
  std::vector<std::string> found;
  for (const std::string& path : process.files) {
    if (std::string_view(path).substr(path.rfind('/') + 1).starts_with(beginning)) found.push_back(path);
  }
  return found;
}

ProcessView view_process(int pid) {
  ProcessView view;
  std::error_code error;
  const std::string directory = fmt::format("/proc/{}", pid);
  std::string ignored;
  view.exists = fs::exists(directory, error);
  if (!view.exists) return view;
  view.name = slurp(directory + "/comm", ignored);
  if (!view.name.empty()) view.name.pop_back();
  view.directory = fs::read_symlink(directory + "/cwd", error).string();
  view.variables = parse_environ(slurp(directory + "/environ", view.environ_error));
  view.files = parse_maps(slurp(directory + "/maps", view.maps_error));
  return view;
}

CheckResults check_variables(const ProcessView& process, bool agent_is_mapped) {
  if (!process.environ_error.empty())
    return {warn("variables", fmt::format("cannot be read: {}", process.environ_error),
                 "run doctor as its user, or as root")};
  const std::string off = value(process, "TRACETOOL_DISABLE"), path = value(process, "CUDA_INJECTION64_PATH");
  if (!off.empty() && off != "0")
    return {fail("variables", fmt::format("TRACETOOL_DISABLE={}: the agent does nothing", off),
                 "start the program without this variable")};
  if (!path.empty()) return {check_path(path)};
  if (agent_is_mapped) return {ok("variables", "CUDA_INJECTION64_PATH was set by the preloaded agent")};
  return {fail("variables", "CUDA_INJECTION64_PATH is not set, so CUDA does not load the agent", kStart)};
}

CheckResults check_mapped(const ProcessView& process) {
  if (!process.maps_error.empty())
    return {warn("agent", fmt::format("its libraries cannot be seen: {}", process.maps_error),
                 "run doctor as its user, or as root")};
  const std::vector<std::string> agents = files_named(process, "libagent"), driver = files_named(process, "libcuda.so");
  CheckResults found;
  found.push_back(
      driver.empty()
          ? warn("cuda", "the CUDA driver is not loaded: nothing to record yet",
                 "check another process if this is a launcher or a DataLoader worker: they do not use the GPU")
          : ok("cuda", driver[0]));
  if (!agents.empty()) {
    found.push_back(ok("agent", agents[0]));
  } else if (driver.empty()) {
    found.push_back(warn("agent", "libagent.so is not loaded yet: CUDA loads it when it starts", ""));
  } else {
    found.push_back(fail("agent", "libagent.so is not loaded, although CUDA is",
                         "set the variable before the program starts, and use a libagent.so that this machine can "
                         "load (glibc 2.34 or newer)"));
  }
  check_cupti_copies(process, found);
  check_other_tools(process, found);
  if (!agents.empty()) check_pytorch_loaded(process, found);
  if (!agents.empty() && !driver.empty()) check_rings(process, found);
  return found;
}

CheckResults check_process(const ProcessView& process, int pid) {
  if (!process.exists)
    return {fail("process", fmt::format("no process {}", pid), "check its recordings with `tracetool doctor DIR`")};
  const std::string place = process.directory.empty() ? "" : " in " + process.directory;
  CheckResults found{ok("process", fmt::format("{} {}{}", pid, process.name, place))};
  const bool agent_is_mapped = !files_named(process, "libagent").empty();
  for (CheckResult& each : check_variables(process, agent_is_mapped)) found.push_back(std::move(each));
  for (CheckResult& each : check_mapped(process)) found.push_back(std::move(each));
  return found;
}

}  // namespace cli::doctor
