// A sliding view of a byte source: what lies between begin() and end() is in memory, followed by kPadding bytes that
// may be read and hold zeros. It grows only for a single item that does not fit.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "cli/formats/json/byte_source.h"

namespace cli {

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
  int plain_file() const { return source_->plain_file(); }  // ByteSource::plain_file
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

}  // namespace cli
