// Variables for the process and its children. The driver may load us in the middle of the run, while other threads read
// the environment: setenv(3) frees the table that they are reading when it needs a larger one.
#pragma once

namespace agent {

// Sets it, whether it was set or not; what a getenv(3) in another thread is reading stays as it is, for good. Does
// nothing where there is no memory. Only while the library is loaded: not beside a setenv(3) in another thread.
void set_variable(const char* name, const char* value) noexcept;

}  // namespace agent
