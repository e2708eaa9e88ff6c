// Where the bytes of a trace come from: a plain file, or the inside of a gzip or zstd file (any number of members or
// frames, also compressed twice), in one forward pass of bounded memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace cli {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills `out` with up to `size` bytes (size > 0) and returns how many; 0 only at the end.
  // Throws Error (cannot_open) when the system refuses. A compressed file that is cut or corrupt ends where it is.
  virtual std::size_t read(char* out, std::size_t size) = 0;

  // After the end: what is wrong with the compressed file, with the offset in it; "" when nothing is.
  virtual std::string damage() const { return {}; }

  // Where these bytes are those of a file as it lies there: the file, open as long as this is; else -1.
  virtual int plain_file() const { return -1; }
};

// What damage() says: at byte `at` of the compressed file something is wrong, so that `unread` bytes behind it tell
// nothing; `program` -t checks it.
std::string compressed_damage(std::uint64_t at, std::string_view what, std::uint64_t unread, std::string_view program);

// By the first bytes of a file (4 are enough): gzip (RFC 1952), zstd (RFC 8878).
bool is_gzip(std::string_view first_bytes);
bool is_zstd(std::string_view first_bytes);

// Opens by these, not by the name. Throws Error (cannot_open).
std::unique_ptr<ByteSource> open_byte_source(const std::string& path);

}  // namespace cli
