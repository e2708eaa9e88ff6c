// Sources of the bytes of a trace: a plain file, or the content of a gzip or zstd file (any number of members or
// frames, even if compressed twice), read in one forward pass with bounded memory.
#pragma once
#include <isa-l/igzip_lib.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/base/error.h"

namespace cli {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills `out` with up to `size` bytes (size > 0) and returns their number; 0 only at the end. Throws Error
  // (cannot_open) on a system error. A truncated or corrupt compressed file ends at the damage.
  virtual std::size_t read(char* out, std::size_t size) = 0;

  // Returns the damage of the compressed file with its offset; "" if there is none. Valid after the end.
  virtual std::string damage() const { return {}; }
};

// Returns the text for damage(): there is an error at byte `at` of the compressed file, so the remaining `unread` bytes
// cannot be read. `program` -t checks the file.
std::string compressed_damage(std::uint64_t at, std::string_view what, std::uint64_t unread, std::string_view program);

// Detect gzip (RFC 1952) and zstd (RFC 8878) by the first bytes of a file (4 are enough).
bool is_gzip(std::string_view first_bytes);
bool is_zstd(std::string_view first_bytes);

// Opens a file, detecting compression by its content, not by its name. Throws Error (cannot_open).
std::unique_ptr<ByteSource> open_byte_source(const std::string& path);

// A sliding view of a byte source. The bytes from begin() to end() are in memory, followed by kPadding zero bytes that
// may be read. It grows only for a single item that does not fit.
class Window {
 public:
  static constexpr std::size_t kPadding = 64;  // readable bytes after the end, for block-wise scanners and simdjson

  // `capacity` > 0 is the initial size in bytes.
  Window(std::unique_ptr<ByteSource> source, std::size_t capacity);

  const char* begin() const { return bytes_.get() + begin_; }
  const char* end() const { return bytes_.get() + end_; }
  std::size_t size() const { return end_ - begin_; }
  bool at_end() const { return at_end_; }                         // the source has no more bytes
  std::uint64_t offset() const { return base_offset_ + begin_; }  // of begin() in the source

  // Returns the address `bytes` before begin(); nullptr if they are no longer in memory.
  const char* behind(std::size_t bytes) const { return bytes <= begin_ ? begin() - bytes : nullptr; }
  // Returns the reason why the source ended too early (ByteSource::damage); "" if it did not, or has not ended.
  std::string damage() const { return at_end_ ? source_->damage() : std::string(); }

  void skip(std::size_t bytes) { begin_ += bytes; }  // bytes <= size()

  // Reads more bytes after end(); doubles the window first if it is full. Returns false at the end of the source.
  // Invalidates pointers.
  bool more();

 private:
  void make_room();

  std::unique_ptr<ByteSource> source_;
  std::size_t capacity_;
  std::unique_ptr<char[]> bytes_;  // followed by kPadding; unread parts are not touched
  std::size_t begin_ = 0, end_ = 0;
  std::uint64_t base_offset_ = 0;  // offset of bytes_[0] in the source
  bool at_end_ = false;
};

// The content of a gzip file (RFC 1952: concatenated members), decompressed by ISA-L on demand. Checksums and lengths
// of every member are verified. Bytes decompressed before damage are returned.
class GzipSource : public ByteSource {
 public:
  // `compressed` begins with a gzip member.
  explicit GzipSource(std::unique_ptr<ByteSource> compressed);

  std::size_t read(char* out, std::size_t size) override;
  std::string damage() const override { return damage_; }

 private:
  void inflate();
  bool refill();
  bool next_member();
  bool fail(std::string_view what);

  std::unique_ptr<ByteSource> compressed_;
  std::unique_ptr<unsigned char[]> input_;
  std::uint64_t input_end_offset_ = 0;  // offset in the compressed file of the end of input_
  inflate_state state_;
  bool done_ = false;
  std::string damage_;
};

// The content of a zstd file (RFC 8878: concatenated frames, including skippable ones), decompressed on demand.
class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> compressed);
  ~ZstdSource() override;

  std::size_t read(char* out, std::size_t size) override;
  std::string damage() const override { return damage_; }

 private:
  struct Context;
  bool refill();
  void fail(const std::string& what);

  std::unique_ptr<ByteSource> compressed_;
  std::unique_ptr<Context> context_;
  std::vector<char> input_;
  std::size_t at_ = 0, end_ = 0;    // range of unused bytes in input_
  std::uint64_t input_offset_ = 0;  // offset of input_[0] in the compressed file
  bool frame_open_ = false, done_ = false;
  std::string damage_;
};

// Files that bytes come from: a named file, or standard input.

// A file read with read(2). Owns its descriptor.
class PlainFile : public ByteSource {
 public:
  explicit PlainFile(const std::string& path);  // throws Error (cannot_open)
  ~PlainFile() override;
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  std::size_t read(char* out, std::size_t size) override;

  // Returns the first bytes of the file, fewer if it is shorter. The read position does not change. Throws Error
  // (cannot_open).
  std::string peek(std::size_t size) const;

 private:
  std::string path_;
  int fd_ = -1;
};

// Standard input as a file that can be opened by name, repeatedly and from its start, because readers probe, scan and
// map files.

// Returns a path under /proc/self/fd, valid until the program ends. A pipe is first copied to an unlinked file in
// $TMPDIR (or /tmp), never into memory. Throws Error (cannot_open).
std::string stdin_as_file();

inline constexpr const char* kStdinName = "<stdin>";

// Replaces the path of stdin_as_file() in a message by kStdinName.
std::string with_stdin_named(std::string message);

// Calls f. Errors that it throws name standard input as kStdinName.
template <typename F>
void naming_stdin(F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const Error& error) {
    throw Error(error.exit(), with_stdin_named(error.what()));
  }
}

}  // namespace cli
