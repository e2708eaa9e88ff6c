// Runs a program in a child process that behaves as if it were started directly: it has the same terminal, stdin and
// process group, receives the signals sent to us, and determines our exit status.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cli {

// Inserts "--" into the words of a command line (without "tracetool") before the first word that is neither an option
// of `app` nor the value of one. The words after it belong to the program, as with env(1) and nohup(1). Command lines
// of other commands are unchanged.
std::vector<std::string> mark_command(const CLI::App& app, std::vector<std::string> words);

// Replaces this process by the program. Throws Error (cannot_open) if the program cannot be run.
[[noreturn]] void become_program(const std::vector<std::string>& command);

// Returns the wait status as from waitpid(2). If this process is killed by SIGKILL, the program is killed too. Throws
// Error (cannot_open) if the program cannot be run.
int run_program(const std::vector<std::string>& command);

// Ends this process with the same exit status or signal.
[[noreturn]] void end_like(int wait_status);

// Returns the lines that `record` prints on stderr after the program: the number of recordings begun in `directory` at
// or after `start_ns` (wall clock), their location, records and losses, and the next command. If there is none, returns
// the findings of `doctor`.
std::vector<std::string> record_summary(const std::string& directory, std::int64_t start_ns);

// Returns why a ring cannot be created in `directory` (full disk, file size limit); "" if it can.
std::string why_no_room(const std::string& directory);

// Returns true for all but the first of several programs started by a launcher. Only the first one prints.
bool is_further_rank();

}  // namespace cli
