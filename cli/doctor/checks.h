// The three questions that `doctor` answers.
#pragma once
#include <string>
#include <vector>

#include "cli/doctor/check_result.h"
#include "cli/doctor/process_view.h"

namespace cli {

// Can this shell on this machine record at all? `directory` is where recordings would go.
CheckResults check_machine(const std::string& directory);

// What lies in a directory of recordings: is everybody there, alive, complete? Of several runs those are looked at that
// `run` names (model/run_name.h). Throws Error (usage) where there is no such run.
CheckResults check_directory(const std::string& directory, const std::string& run);

// Why does this process record, or not?
CheckResults check_process(const ProcessView& process, int pid);

// The two above it that need no machine: what the variables of a process do, and what its mapped files tell.
CheckResults check_variables(const ProcessView& process, bool agent_is_mapped);
CheckResults check_mapped(const ProcessView& process);

}  // namespace cli
