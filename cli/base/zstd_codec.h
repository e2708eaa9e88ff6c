// Whole frames of zstd, with their checksum; the contexts are kept from frame to frame. One thread at a time.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace cli {

// What a frame of `raw_bytes` takes at most.
std::size_t largest_frame(std::size_t raw_bytes);

class ZstdCompressor {
 public:
  explicit ZstdCompressor(int level);
  ~ZstdCompressor();
  // Replaces `out`.
  void compress(std::string_view raw, std::string& out);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

class ZstdDecompressor {
 public:
  ZstdDecompressor();
  ~ZstdDecompressor();
  // Replaces `out` by exactly `raw_bytes`. False: the frame is broken, or is not that long; never takes more memory.
  [[nodiscard]] bool decompress(std::string_view frame, std::size_t raw_bytes, std::string& out);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace cli
