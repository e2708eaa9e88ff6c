// Runs a program in a child process that a user cannot tell from one without us: terminal, stdin and process group are
// the same, signals that are sent to us reach it, and we end as it did.
#pragma once
#include <string>
#include <vector>

namespace cli {

// Takes this process's place. Throws Error (cannot_open) where the program cannot be run.
[[noreturn]] void become_program(const std::vector<std::string>& command);

// Returns how it ended, as waitpid(2) tells. A program whose parent is killed by SIGKILL is killed, too. Throws Error
// (cannot_open) where it cannot be run.
int run_program(const std::vector<std::string>& command);

// Ends this process with the same exit status or signal.
[[noreturn]] void end_like(int wait_status);

}  // namespace cli
