// Standard input as a file that can be opened by name, more than once, from its start: readers sniff, scan and map.
#pragma once
#include <string>
#include <utility>

#include "cli/trace/error.h"

namespace cli {

// A path under /proc/self/fd, good until the program ends. A pipe is first copied whole to an unlinked file in $TMPDIR
// (else /tmp), never into memory. Throws Error (cannot_open).
std::string stdin_as_file();

inline constexpr const char* kStdinName = "<stdin>";

// The path of stdin_as_file() in a message becomes kStdinName.
std::string with_stdin_named(std::string message);

// Calls f; what it throws names standard input as its user does.
template <typename F>
void naming_stdin(F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const Error& error) {
    throw Error(error.exit(), with_stdin_named(error.what()));
  }
}

}  // namespace cli
