// The native frames of the calling thread, each as the loaded object and the address in it, and, where Python's stacks are recorded
// (TRACETOOL_TORCH=stacks or all), Python's frames in place of those of its interpreter. Names are found offline.
#pragma once
#include <cstddef>
#include <cstdint>

#include "agent/base/guard.h"
#include "agent/native/loaded_code.h"
#include "agent/python/python_stacks.h"

namespace agent {

class NativeStack {
 public:
  static constexpr std::size_t kMost = 128;  // frames besides Python's

  static constexpr std::size_t kMostBytes = kMost * sizeof(std::uint32_t) + PythonStack::kMostBytes;

  // Captures the calling thread's stack. The recording must be open and prepare_backtraces() must have succeeded.
  explicit NativeStack(const Guard& guard) noexcept;
  // Writes the stack and returns its reference, or kNoRef if there is no room or a frame is unknown. The writer must have been made with
  // kMostBytes and must not have named anything yet.
  std::uint32_t write(HostWriter& writer) const noexcept;

 private:
  std::uint32_t write_locked(HostWriter& writer) const noexcept;

  LoaderCounts counts_;
  std::size_t count_ = 0;
  const void* addresses_[kMost];
  PythonStack python_;
};

}  // namespace agent
