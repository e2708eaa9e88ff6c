// Whether memory can be read, for pointers that nobody has proved: what another library keeps in its objects, at offsets that may be of
// another version of it.
#pragma once
#include <cstddef>

namespace agent {

// Whether all of it can be read now. One system call for each page, which needs no permission and no descriptor, and changes nothing.
bool is_readable(const void* at, std::size_t bytes) noexcept;

}  // namespace agent
