// What `record` says when the program has ended.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cli {

// Lines for stderr: how many recordings were begun in `directory` at or after `start_ns` (wall clock), where they are,
// how many records they hold and what was lost, and the next command; or that there is none, with what `doctor` finds.
std::vector<std::string> record_summary(const std::string& directory, std::int64_t start_ns);

// Returns why no ring can be made in `directory` (full disk, file size limit), or "" if one can.
std::string why_no_room(const std::string& directory);

// Whether this is one of several programs that a launcher started, and not its first: those say nothing.
bool is_further_rank();

}  // namespace cli
