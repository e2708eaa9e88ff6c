// Checks whether memory can be read. The agent follows pointers that can be wrong: the layout of an unknown PyTorch version may differ, and a
// program may pass wrong pointers to NVTX, which ignores them if there is no tool.
#pragma once
#include <cstddef>
#include <cstring>
#include <string_view>

namespace agent {

// Returns whether all `bytes` are readable now. Makes one system call per page; needs no permission and changes nothing. Keeps errno.
bool is_readable(const void* at, std::size_t bytes) noexcept;

// The same for pointers that come with every call: remembers pages that were readable, so that nearly all calls make no system call. A page
// that was unmapped since then counts as readable.
bool was_readable(const void* at, std::size_t bytes) noexcept;

// Copies the first `bytes` of a T. Returns false if they are not readable.
template <typename T>
bool read_guarded(const void* at, T& to, std::size_t bytes = sizeof(T)) noexcept {
  if (!was_readable(at, bytes)) return false;
  std::memcpy(&to, at, bytes);
  return true;
}

// Returns the text up to its NUL, the first page that was_readable() refuses or `most` bytes, whichever comes first.
std::string_view readable_text(const char* text, std::size_t most) noexcept;

}  // namespace agent
