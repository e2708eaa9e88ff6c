// Used in a build without libunwind.
#include "agent/native/backtrace.h"

namespace agent {

bool prepare_backtraces() noexcept { return false; }
std::size_t backtrace_here(const void**, std::size_t) noexcept { return 0; }
void forget_unloaded_code() noexcept {}

}  // namespace agent
