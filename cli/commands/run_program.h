// Runs a program in a child process that a user cannot tell from one without us: terminal, stdin and process group are
// the same, signals that are sent to us reach it, and we end as it did.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace CLI {

// Where the options of `record` end and the program's words begin.
class App;
}

namespace cli {

// The words of a command line, "tracetool" not among them, with "--" before the first that is no option of `app` and no
// value of one: what follows it is the program's, as with env(1) and nohup(1). Those for other commands stay.
std::vector<std::string> mark_command(const CLI::App& app, std::vector<std::string> words);

}  // namespace cli

namespace cli {

// Takes this process's place. Throws Error (cannot_open) where the program cannot be run.
[[noreturn]] void become_program(const std::vector<std::string>& command);

// Returns how it ended, as waitpid(2) tells. A program whose parent is killed by SIGKILL is killed, too. Throws Error
// (cannot_open) where it cannot be run.
int run_program(const std::vector<std::string>& command);

// Ends this process with the same exit status or signal.
[[noreturn]] void end_like(int wait_status);

}  // namespace cli

namespace cli {

// What `record` says when the program has ended.

// Lines for stderr: how many recordings were begun in `directory` at or after `start_ns` (wall clock), where they are,
// how many records they hold and what was lost, and the next command; or that there is none, with what `doctor` finds.
std::vector<std::string> record_summary(const std::string& directory, std::int64_t start_ns);

// Returns why no ring can be made in `directory` (full disk, file size limit), or "" if one can.
std::string why_no_room(const std::string& directory);

// Whether this is one of several programs that a launcher started, and not its first: those say nothing.
bool is_further_rank();

}  // namespace cli
