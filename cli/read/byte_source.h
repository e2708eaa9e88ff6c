// Where the bytes of a trace come from: a plain file, or the inside of a gzip file (any number of members), in one
// forward pass of bounded memory.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

namespace cli {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills `out` with up to `size` bytes (size > 0) and returns how many; 0 only at the end.
  // Throws Error (cannot_open) when the system refuses. A compressed file that is cut or corrupt ends where it is.
  virtual std::size_t read(char* out, std::size_t size) = 0;

  // After the end: what is wrong with the compressed file, with the offset in it; "" when nothing is.
  virtual std::string damage() const { return {}; }
};

// Opens by the first two bytes (gzip: RFC 1952), not by the name. Throws Error (cannot_open).
std::unique_ptr<ByteSource> open_byte_source(const std::string& path);

}  // namespace cli
