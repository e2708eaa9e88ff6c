#include "cli/commands/nsys_reports.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/base/error.h"
#include "cli/base/terminal.h"
#include "cli/base/text.h"
#include "cli/formats/inputs/paths.h"
#include "cli/formats/nsys/reader.h"

namespace cli {
namespace {

namespace fs = std::filesystem;

// Runs a program with its standard output on stderr, because ours contains results. Returns its exit status, or -1 if a
// signal ended it. Throws Error if it cannot be started, with `advice`.
int run_and_wait(std::vector<std::string> words, const std::string& advice) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw Error(Exit::cannot_open, "{}: {}; {}", words[0], std::strerror(error), advice);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::vector<std::string> reports_below(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code error;
  fs::recursive_directory_iterator at(directory, fs::directory_options::skip_permission_denied, error), end;
  for (; !error && at != end; at.increment(error)) {
    if (nsys::is_report_name(at->path().native())) found.push_back(at->path().native());
  }
  std::sort(found.begin(), found.end(), natural_less);
  return found;
}

}  // namespace

std::string exported_report(const std::string& report) {
  const std::string exported = fs::path(report).replace_extension(".sqlite").native();
  std::error_code error;
  const auto written = fs::last_write_time(exported, error);
  if (!error && written >= fs::last_write_time(report, error) && !error) return exported;
  // A search ignores hidden files, so that an interrupted export is not taken for a trace.
  const fs::path name = fs::path(report).stem().concat(".partial.sqlite");
  const std::string partial = fs::path(report).replace_filename("." + name.native()).native();
  print_line("tracetool: exporting {}", report);
  const int status = run_and_wait(
      {"nsys", "export", "--type=sqlite", "--include-blobs=true", "--force-overwrite=true", "--output=" + partial,
       report},
      "install Nsight Systems, or export the report where it is installed: " + nsys::export_command(report, exported));
  if (status == 0) fs::rename(partial, exported, error);
  if (status == 0 && !error) return exported;
  fs::remove(partial, error);
  throw Error(Exit::cannot_open, "{}: nsys export failed ({}); its messages are above", report,
              status == 0  ? "it wrote no file"
              : status > 0 ? fmt::format("exit status {}", status)
                           : "ended by a signal");
}

std::vector<std::string> with_exported_reports(const std::vector<std::string>& paths) {
  std::vector<std::string> result;
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      for (const std::string& report : reports_below(path)) exported_report(report);
      result.push_back(path);
    } else if (nsys::is_report_name(path)) {
      for (const std::string& report : expand_paths({path})) result.push_back(exported_report(report));
    } else {
      result.push_back(path);
    }
  }
  return result;
}

}  // namespace cli
