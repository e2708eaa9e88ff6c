// The native frames of the calling thread, each as the loaded object and the address in it, and, where Python's stacks are recorded
// (TRACETOOL_TORCH=stacks or all), Python's frames in place of those of its interpreter. Names are found offline.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/base/guard.h"
#include "agent/python/python_stacks.h"

namespace agent {

class NativeStack {
 public:
  static constexpr std::size_t kMost = 128;  // frames besides Python's

  // With the recording open, after prepare_backtraces(). Empty: it cannot be told.
  explicit NativeStack(const Guard& guard) noexcept;
  // For HostWriter::name().
  std::string_view bytes() const noexcept { return {reinterpret_cast<const char*>(refs_), count_ * sizeof(refs_[0])}; }

 private:
  std::size_t count_ = 0;
  std::uint32_t refs_[kMost + PythonStack::kMost];
};

}  // namespace agent
