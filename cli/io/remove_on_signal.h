// Files that an interrupted run must not leave behind: SIGINT, SIGTERM and SIGHUP unlink them and then end the process
// as they would have. A signal that was ignored at start (nohup) stays ignored.
#pragma once
#include <string>

namespace cli {

// Returns the file's slot, or -1 when the table is full or the path too long (the file is then not removed).
int remove_on_signal(const std::string& path);
void keep_on_signal(int slot);  // -1 is allowed

}  // namespace cli
