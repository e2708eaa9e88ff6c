// The two environment variables by which CUDA and NVTX find their tool. Each can name only one. A variable set by
// another tool is left unchanged, and that tool is reported.
//
// Tools are not chained: another tool behind the agent would have its own domain and string handles, every call would
// have to be translated for both, and a tool that the user chose by name would receive less than it does alone.
#pragma once

namespace agent {

// Sets both variables to `own_path` if they are unset, otherwise remembers their values. Called only while the library
// is loaded; see set_variable().
void claim_injections(const char* own_path) noexcept;

// Return the other tool in NVTX_INJECTION64_PATH or CUDA_INJECTION64_PATH; "" if it is this agent.
const char* nvtx_taken_by() noexcept;
const char* cuda_taken_by() noexcept;

// Records that NVTX has called the agent. Thread-safe.
void nvtx_has_called() noexcept;

// Writes NVTX's state into the file's header, and reports other tools with TRACETOOL_VERBOSE=1. The recording must be
// open.
void describe_nvtx() noexcept;

}  // namespace agent
