// Variables for the process and its children. The driver may load us in the middle of the run, while other threads read
// the environment: setenv(3) frees the table that they are reading when it needs a larger one.
#pragma once

namespace agent {

// Sets it, whether it was set or not. Where the process has other threads, what a getenv(3) in one of them is reading
// stays as it is, for good; beside a setenv(3) in one of them it is done again, or in the worst case not at all. Does
// nothing where there is no memory. One thread at a time.
void set_variable(const char* name, const char* value) noexcept;

}  // namespace agent
