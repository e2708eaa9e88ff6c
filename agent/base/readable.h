// Checks pointers read from another library's objects, whose layout may be of an unknown version.
#pragma once
#include <cstddef>

namespace agent {

// Returns whether all `bytes` are readable now. Makes one system call per page; needs no permission and changes nothing. Keeps errno.
bool is_readable(const void* at, std::size_t bytes) noexcept;

}  // namespace agent
