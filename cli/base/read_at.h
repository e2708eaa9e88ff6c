// Whole reads from a place in a file.
#pragma once
#include <cstddef>
#include <cstdint>

namespace cli {

// Bytes read: fewer than asked for at the end of the file (errno is 0) or when it cannot be read (errno says why).
std::size_t read_at(int fd, void* to, std::size_t bytes, std::uint64_t offset);

}  // namespace cli
