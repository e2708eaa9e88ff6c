#include "agent/native/backtrace.h"

// libunwind/memory_checks.c and frame_cache.c
extern "C" {
int unwind_can_check_memory(void);
int unwind_has_key(void);
int unwind_here(void** addresses, int most);
void unwind_forget(void);
}

namespace agent {

bool prepare_backtraces() noexcept { return unwind_can_check_memory() != 0 && unwind_has_key() != 0; }

std::size_t backtrace_here(const void** addresses, std::size_t most) noexcept {
  const int count = unwind_here(const_cast<void**>(addresses), static_cast<int>(most));
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

void forget_unloaded_code() noexcept { unwind_forget(); }

}  // namespace agent
