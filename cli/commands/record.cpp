
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cli/base/error.h"
#include "cli/base/terminal.h"
#include "cli/base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/options.h"
#include "cli/commands/run_program.h"
#include "cli/doctor/injection.h"
#include "common/settings.h"

namespace cli {
namespace {

struct RecordOptions {
  doctor::InjectionOptions injection;
  std::vector<std::string> values = std::vector<std::string>(std::size(trace::kSettings));  // "" if not given
  bool verbose = false;
  bool quiet = false;
  std::vector<std::string> command;
};

void find_agent_for(doctor::InjectionOptions& options) {
  std::string searched;
  options.agent = doctor::find_agent(searched);
  if (options.agent.empty())
    throw Error(Exit::cannot_open,
                "libagent.so was not found ({}); put it next to tracetool, or set TRACETOOL_AGENT to its path",
                searched);
  if (const std::string wrong = doctor::wrong_with_agent(options.agent); !wrong.empty())
    throw Error(Exit::cannot_open, "{} {}; use the libagent.so that came with this tracetool", options.agent, wrong);
}

// Returns the option of a setting: --flush-ms for TRACETOOL_FLUSH_MS.
std::string flag_of(const trace::Setting& setting) {
  std::string flag = "--";
  for (const char c : std::string_view(setting.name).substr(std::string_view("TRACETOOL_").size()))
    flag += c == '_' ? '-' : static_cast<char>(c - 'A' + 'a');
  return flag;
}

// Applies the agent's own rules before the program starts.
void check_setting(const trace::Setting& setting, const std::string& value) {
  trace::Settings scratch;
  if (setting.set(scratch, value.c_str())) return;
  const std::string_view word = trace::wrong_word(setting, value.c_str());
  throw Error(Exit::usage, "{} {}{}{} is not allowed; allowed: {}", flag_of(setting), value, word.empty() ? "" : ": ",
              word, setting.allowed);
}

doctor::InjectionOptions complete(const RecordOptions& options) {
  doctor::InjectionOptions injection = options.injection;
  find_agent_for(injection);
  for (std::size_t i = 0; i < std::size(trace::kSettings); ++i) {
    if (options.values[i].empty()) continue;
    check_setting(trace::kSettings[i], options.values[i]);
    injection.settings.emplace_back(trace::kSettings[i].name, options.values[i]);
  }
  if (options.verbose) injection.settings.emplace_back("TRACETOOL_VERBOSE", "1");
  return injection;
}

// The variable is inherited, also by the program, and the user may have forgotten that it is set.
void warn_if_disabled() {
  const char* off = std::getenv("TRACETOOL_DISABLE");
  if (off == nullptr || *off == '\0' || std::strcmp(off, "0") == 0) return;
  print_line("tracetool: warning: TRACETOOL_DISABLE={}: nothing will be recorded; unset it", off);
}

void set_variables(const doctor::Injection& plan) {
  if (!plan.refused.empty()) throw Error(Exit::usage, plan.refused);
  if (!plan.warning.empty()) print_line("tracetool: warning: {}", plan.warning);
  for (const auto& [name, value] : plan.variables) {
    if (name == "TRACETOOL_DIR") {
      const doctor::OutputDirectory directory = doctor::look_at(value);
      if (!directory.writable)
        throw Error(Exit::cannot_open, "{} cannot be written; choose a directory with -o", value);
    }
    setenv(name.c_str(), value.c_str(), 1);
  }
}

// The directory as the user gave it.
std::string shown_directory(const RecordOptions& options) {
  if (!options.injection.directory.empty()) return options.injection.directory;
  const char* set = std::getenv("TRACETOOL_DIR");
  return set != nullptr && *set != '\0' ? set : "traces";
}

void run_record(const RecordOptions& options) {
  const std::string directory = shown_directory(options);
  const doctor::Injection plan =
      doctor::plan_injection(complete(options), [](const char* name) { return std::getenv(name); });
  set_variables(plan);
  warn_if_disabled();
  const std::string no_room = is_further_rank() ? "" : why_no_room(directory);
  if (!no_room.empty()) print_line("tracetool: warning: not enough space to record: {}", no_room);
  if (options.quiet || is_further_rank()) become_program(options.command);
  const std::int64_t start_ns = wall_clock_ns();
  const int status = run_program(options.command);
  print_notes(record_summary(directory, start_ns));
  end_like(status);
}

// Words before the program (run_program.h) are options of `record` or errors.
void check_command(const std::vector<std::string>& command, std::vector<std::string> unknown) {
  unknown.erase(std::remove(unknown.begin(), unknown.end(), "--"), unknown.end());  // CLI11 keeps the "--" itself
  if (!unknown.empty())
    throw Error(Exit::usage,
                "record has no option {}; put the program's options after the program, "
                "as in tracetool record -- python train.py --lr 3",
                unknown[0]);
  if (command.empty())
    throw Error(Exit::usage, "missing command after --; example: tracetool record -- python train.py");
}

std::function<void()> set_up_record(CLI::App& app) {
  auto options = std::make_shared<RecordOptions>();
  app.add_option("-o,--output", options->injection.directory,
                 "Directory for recordings (default: $TRACETOOL_DIR, else ./traces)")
      ->type_name("DIR");
  for (std::size_t i = 0; i < std::size(trace::kSettings); ++i) {
    const trace::Setting& setting = trace::kSettings[i];
    if (*setting.type == '\0') continue;
    add_text(app, flag_of(setting), options->values[i], setting.type,
             fmt::format("{} [{}: {}]", setting.help, setting.name, setting.allowed));
  }
  app.add_flag("--verbose", options->verbose, "Report on stderr what the agent finds [TRACETOOL_VERBOSE=1]");
  app.add_flag("-q,--quiet", options->quiet,
               "Print no summary. The program replaces this process and keeps its process id");
  app.add_flag("--preload", options->injection.preload,
               "Also use LD_PRELOAD, which records NVTX calls before CUDA starts and calls of dynamically linked NCCL");
  app.add_flag("--force", options->injection.force, "Replace another tool in the injection variables of CUDA and NVTX");
  app.add_option("CMD", options->command, "The program and its arguments")->type_name("");
  app.allow_extras();
  return [options, &app] {
    check_command(options->command, app.remaining());
    run_record(*options);
  };
}

}  // namespace

Command record_command() {
  return {
      "record", "Run a program with the agent injected",
      "Records the program and all processes that it starts, if they use the GPU. Their output, exit status and signals are\n"
      "unchanged. A line on stderr reports at the end what was recorded and where. To record without this command, run\n"
      "CUDA_INJECTION64_PATH=/path/of/libagent.so NVTX_INJECTION64_PATH=/path/of/libagent.so CMD.\n"
      "Exit status: that of the program, 1 for a usage error or another tool in the injection variables, 2 if the program or\n"
      "the agent cannot be run.\n"
      "\n"
      "  tracetool record -- python train.py\n"
      "  tracetool record -o /scratch/traces --buffer 1G -- torchrun --nproc-per-node=8 train.py",
      set_up_record};
}

}  // namespace cli
