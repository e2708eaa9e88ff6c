// Where the bytes of a trace come from: a plain file, or the inside of a gzip or zstd file (any number of members or
// frames, also compressed twice), in one forward pass of bounded memory.
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

  // Fills `out` with up to `size` bytes (size > 0) and returns how many; 0 only at the end.
  // Throws Error (cannot_open) when the system refuses. A compressed file that is cut or corrupt ends where it is.
  virtual std::size_t read(char* out, std::size_t size) = 0;

  // After the end: what is wrong with the compressed file, with the offset in it; "" when nothing is.
  virtual std::string damage() const { return {}; }
};

// What damage() says: at byte `at` of the compressed file something is wrong, so that `unread` bytes behind it tell
// nothing; `program` -t checks it.
std::string compressed_damage(std::uint64_t at, std::string_view what, std::uint64_t unread, std::string_view program);

// By the first bytes of a file (4 are enough): gzip (RFC 1952), zstd (RFC 8878).
bool is_gzip(std::string_view first_bytes);
bool is_zstd(std::string_view first_bytes);

// Opens by these, not by the name. Throws Error (cannot_open).
std::unique_ptr<ByteSource> open_byte_source(const std::string& path);

// A sliding view of a byte source: what lies between begin() and end() is in memory, followed by kPadding bytes that
// may be read and hold zeros. It grows only for a single item that does not fit.
class Window {
 public:
  static constexpr std::size_t kPadding = 64;  // what block-wise scanners and simdjson may read beyond the end

  // `capacity` > 0: bytes held before it has to grow.
  Window(std::unique_ptr<ByteSource> source, std::size_t capacity);

  const char* begin() const { return bytes_.get() + begin_; }
  const char* end() const { return bytes_.get() + end_; }
  std::size_t size() const { return end_ - begin_; }
  bool at_end() const { return at_end_; }                         // the source has nothing more
  std::uint64_t offset() const { return base_offset_ + begin_; }  // of begin() in the source

  // The `bytes` before begin(); nullptr when they are no longer in memory.
  const char* behind(std::size_t bytes) const { return bytes <= begin_ ? begin() - bytes : nullptr; }
  // Why the source ended too early (ByteSource::damage); "" when it did not, or has not ended.
  std::string damage() const { return at_end_ ? source_->damage() : std::string(); }

  void skip(std::size_t bytes) { begin_ += bytes; }  // bytes <= size()

  // Fills the window behind end(), after doubling it when it was full. False at the end of the source.
  // Invalidates pointers.
  bool more();

 private:
  void make_room();

  std::unique_ptr<ByteSource> source_;
  std::size_t capacity_;
  std::unique_ptr<char[]> bytes_;  // and kPadding behind; what was not read is not touched
  std::size_t begin_ = 0, end_ = 0;
  std::uint64_t base_offset_ = 0;  // in the source, of bytes_[0]
  bool at_end_ = false;
};

// The inside of a gzip file (RFC 1952: members back to back), decompressed by ISA-L as it is asked for. Checksums and
// lengths of every member are verified. What was decompressed before damage is handed out.
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
  std::uint64_t input_end_offset_ = 0;  // in the compressed file, of the end of what input_ holds
  inflate_state state_;
  bool done_ = false;
  std::string damage_;
};

// The inside of a zstd file (RFC 8878: frames back to back, skippable ones among them), decompressed as it is asked
// for.
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
  std::size_t at_ = 0, end_ = 0;    // what input_ holds
  std::uint64_t input_offset_ = 0;  // in the compressed file, of input_[0]
  bool frame_open_ = false, done_ = false;
  std::string damage_;
};

// The files that bytes come from: one with a name, or standard input.

// A file read by read(2). Owns its descriptor.
class PlainFile : public ByteSource {
 public:
  explicit PlainFile(const std::string& path);  // throws Error (cannot_open)
  ~PlainFile() override;
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  std::size_t read(char* out, std::size_t size) override;

  // The first bytes of the file, fewer where it is shorter; the position stays. Throws Error (cannot_open).
  std::string peek(std::size_t size) const;

 private:
  std::string path_;
  int fd_ = -1;
};

// Standard input as a file that can be opened by name, more than once, from its start: readers sniff, scan and map.

// A path under /proc/self/fd, good until the program ends. A pipe is first copied whole to an unlinked file in $TMPDIR
// (else /tmp), never into memory. Throws Error (cannot_open).
std::string stdin_as_file();

inline constexpr const char* kStdinName = "<stdin>";

// The path of stdin_as_file() in a message becomes kStdinName.
std::string with_stdin_named(std::string message);

// Calls f; what it throws names standard input as its user does.
template <typename F>
void naming_stdin(F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const Error& error) {
    throw Error(error.exit(), with_stdin_named(error.what()));
  }
}

}  // namespace cli
