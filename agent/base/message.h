// Prints one line for the user on stderr, only if descriptor 2 is still the file that it was when the agent was loaded.
// A host may have closed it and opened its data there.
#pragma once

namespace agent {

void remember_stderr() noexcept;
// Prints "tracetool: " + text + newline, in one write(2).
void say(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));
// Prints only with TRACETOOL_VERBOSE=1.
void say_verbose(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));

}  // namespace agent
