// One line to the user, on stderr, only while descriptor 2 is still the file that it was when the agent was loaded: a
// host may have closed it and opened its data there.
#pragma once

namespace agent {

void remember_stderr() noexcept;
// "tracetool: " + text + newline, in one write(2).
void say(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));
// Only with TRACETOOL_VERBOSE=1.
void say_verbose(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));

}  // namespace agent
