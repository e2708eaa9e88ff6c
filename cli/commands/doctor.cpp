#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/base/error.h"
#include "cli/base/output_file.h"
#include "cli/base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/options.h"
#include "cli/doctor/checks.h"
#include "cli/trace/ranks.h"

namespace cli {
namespace {

struct DoctorOptions {
  std::string target;
  std::string run;
  bool json = false;
};

bool is_pid(const std::string& target) {
  const bool digits = std::ranges::all_of(target, is_digit);
  std::error_code error;
  return digits && target.size() < 10 && !std::filesystem::exists(target, error);
}

void refuse_file(const std::string& target) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(target, error)) return;
  throw Error(Exit::usage,
              "{} is a file; doctor checks a process or a directory of recordings; "
              "`tracetool info {}` summarizes the file",
              target, shell_word(target));
}

std::string default_directory() {
  const char* directory = std::getenv("TRACETOOL_DIR");
  return directory != nullptr && directory[0] != '\0' ? directory : "./traces";
}

doctor::CheckResults look(const std::string& target, const std::string& run) {
  if (!target.empty()) {
    if (!is_pid(target)) {
      refuse_file(target);
      return doctor::check_directory(target, run);
    }
    const int pid = std::atoi(target.c_str());
    return doctor::check_process(doctor::view_process(pid), pid);
  }
  const std::string directory = default_directory();
  doctor::CheckResults found = doctor::check_machine(directory);
  std::error_code error;
  if (!std::filesystem::exists(directory, error)) return found;
  for (doctor::CheckResult& each : doctor::check_directory(directory, run)) {
    if (each.check != "directory") found.push_back(std::move(each));
  }
  return found;
}

void run_doctor(const DoctorOptions& options) {
  const doctor::CheckResults found = look(options.target, options.run.empty() ? kLatestRun : options.run);
  OutputFile out("-");
  if (options.json) {
    doctor::write_findings(found, out);
  } else {
    out.write(doctor::findings_text(found));
    if (options.target.empty())
      out.write("to record: tracetool record -- CMD, as in tracetool record -- python train.py\n");
  }
  out.finish();
  doctor::throw_if_failed(found);
}

std::function<void()> set_up_doctor(CLI::App& app) {
  auto options = std::make_shared<DoctorOptions>();
  app.add_option("PID|DIR", options->target,
                 "Process or directory of recordings to check (default: this machine and shell, and "
                 "$TRACETOOL_DIR, else ./traces)");
  add_run(app, options->run);
  app.add_flag("--json", options->json, "Print one JSON object, for programs");
  return [options] { run_doctor(*options); };
}

}  // namespace

Command doctor_command() {
  return {
      "doctor", "Check whether recording works and explain failures",
      "Prints one line per check: OK, WARN or FAIL, the result, and after -> the fix. For a process, it checks variables and\n"
      "libraries; for a directory, ranks, losses and the cost of recording. Exit status: 0, 4 if a\n"
      "check failed, or 3 if a recording in the directory cannot be read.\n"
      "\n"
      "  tracetool doctor                      # this machine, this shell\n"
      "  tracetool doctor $(pgrep -n python)   # why does this process not record?\n"
      "  tracetool doctor traces/",
      set_up_doctor};
}

}  // namespace cli
