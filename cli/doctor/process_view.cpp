#include "cli/doctor/process_view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace cli {
namespace {

namespace fs = std::filesystem;

// All of a file of /proc; `error` where it cannot be read.
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

}  // namespace

std::map<std::string, std::string> parse_environ(std::string_view bytes) {
  std::map<std::string, std::string> found;
  while (!bytes.empty()) {
    const std::string_view one = bytes.substr(0, bytes.find('\0'));
    bytes.remove_prefix(std::min(bytes.size(), one.size() + 1));
    if (const std::size_t equals = one.find('='); equals != one.npos) {
      found.emplace(one.substr(0, equals), one.substr(equals + 1));
    }
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
    if (std::find(found.begin(), found.end(), line) == found.end()) found.emplace_back(line);
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

}  // namespace cli
