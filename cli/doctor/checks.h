// The checks of `doctor`: of the machine, a directory and a process.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/base/error.h"
#include "cli/base/output_file.h"
#include "cli/doctor/check_process.h"

namespace cli::doctor {

// The results of `doctor`: one line each, and what to do.
enum class Level : std::uint8_t { ok, warn, fail };

struct CheckResult {
  Level level = Level::ok;
  std::string check;  // one word: "agent", "cupti", "ranks", ...
  std::string what;
  std::string next;               // what to do; "" for nothing
  std::string who;                // "rank 3", "pid 4242"; "" if the result is about everything
  Exit exit = Exit::gate_failed;  // for a failure; bad_content if a file cannot be read
  // Results of one series differ only in their amount; the one with the greatest amount represents all. "" for no
  // series.
  std::string series = {};
  double amount = 0;
};

inline CheckResult ok(std::string check, std::string what) {
  return {Level::ok, std::move(check), std::move(what), {}, {}};
}
inline CheckResult warn(std::string check, std::string what, std::string next) {
  return {Level::warn, std::move(check), std::move(what), std::move(next), {}};
}
inline CheckResult fail(std::string check, std::string what, std::string next) {
  return {Level::fail, std::move(check), std::move(what), std::move(next), {}};
}

using CheckResults = std::vector<CheckResult>;

// Combines results with the same words into one: "rank 0", "rank 1", "rank 2" become "ranks 0-2".
CheckResults grouped(const CheckResults& results);

std::string findings_text(const CheckResults& results);
void write_findings(const CheckResults& results, ByteSink& sink);

// Throws Error if a check failed: gate_failed, or bad_content if a file could not be read.
void throw_if_failed(const CheckResults& results);

// Checks whether this shell on this machine can record. `directory` is where recordings would go.
CheckResults check_machine(const std::string& directory);

// Checks a directory of recordings: whether all ranks are present, alive and complete. If it contains several runs,
// checks those selected by `run` (cli/timeline/merge/ranks.h). Throws Error (usage) if there is no such run.
CheckResults check_directory(const std::string& directory, const std::string& run);

// Checks why a process records or does not.
CheckResults check_process(const ProcessView& process, int pid);

// The parts of check_process() that do not depend on the machine: the effect of the process's variables, and its mapped
// files.
CheckResults check_variables(const ProcessView& process, bool agent_is_mapped);
CheckResults check_mapped(const ProcessView& process);

}  // namespace cli::doctor
