// The three questions that `doctor` answers.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/base/output_file.h"
#include "cli/doctor/check_process.h"
#include "cli/base/error.h"

namespace cli::doctor {

// What `doctor` says: one line each, and what to do about it.
enum class Level : std::uint8_t { ok, warn, fail };

struct CheckResult {
  Level level = Level::ok;
  std::string check;  // one word: "agent", "cupti", "ranks", ...
  std::string what;
  std::string next;               // what to do; "" where there is nothing to do
  std::string who;                // "rank 3", "pid 4242"; "" for what concerns all
  Exit exit = Exit::gate_failed;  // of a fail; bad_content where a file cannot be read
  // CheckResults of one series say the same in different amounts: the greatest stands for all. "": of none.
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

// What several say in the same words becomes one result: "rank 0", "rank 1", "rank 2" -> "ranks 0-2".
CheckResults grouped(const CheckResults& results);

std::string findings_text(const CheckResults& results);
void write_findings(const CheckResults& results, ByteSink& sink);

// Throws Error when something failed: gate_failed, or bad_content when a file could not be read.
void throw_if_failed(const CheckResults& results);

// Can this shell on this machine record at all? `directory` is where recordings would go.
CheckResults check_machine(const std::string& directory);

// What lies in a directory of recordings: is everybody there, alive, complete? Of several runs those are looked at that
// `run` names (cli/timeline/merge/ranks.h). Throws Error (usage) where there is no such run.
CheckResults check_directory(const std::string& directory, const std::string& run);

// Why does this process record, or not?
CheckResults check_process(const ProcessView& process, int pid);

// The two above it that need no machine: what the variables of a process do, and what its mapped files tell.
CheckResults check_variables(const ProcessView& process, bool agent_is_mapped);
CheckResults check_mapped(const ProcessView& process);

}  // namespace cli::doctor
