// The two variables by which CUDA and NVTX find their tool. There is one place in each: what another tool has taken
// stays its own, and is named.
//
// Not chained: a tool behind us would hand out domain and string handles of its own, every call would have to be
// translated for both, and a tool that the user chose by name would see less than it does alone.
#pragma once

namespace agent {

// Sets both variables to `own_path` where they are unset, and remembers who has them where not. Only while the library
// is loaded: see set_variable().
void claim_injections(const char* own_path) noexcept;

// The other tool in NVTX_INJECTION64_PATH or CUDA_INJECTION64_PATH, "" where it is us.
const char* nvtx_taken_by() noexcept;
const char* cuda_taken_by() noexcept;

// NVTX has called us. Thread-safe.
void nvtx_has_called() noexcept;

// Writes NVTX's state into the file's header, and names other tools with TRACETOOL_VERBOSE=1. The recording must be
// open.
void describe_nvtx() noexcept;

}  // namespace agent
