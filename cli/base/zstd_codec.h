// Compresses and decompresses whole zstd frames with checksums. Contexts are reused. One thread at a time.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace cli {

// Returns the maximum size of a frame of `raw_bytes`.
std::size_t largest_frame(std::size_t raw_bytes);

class ZstdCompressor {
 public:
  explicit ZstdCompressor(int level);
  // Replaces the contents of `out`.
  void compress(std::string_view raw, std::string& out);

 private:
  std::unique_ptr<ZSTD_CCtx_s, std::size_t (*)(ZSTD_CCtx_s*)> context_;
};

class ZstdDecompressor {
 public:
  ZstdDecompressor();
  // Replaces `out` by exactly `raw_bytes`. Returns false if the frame is corrupt or has another length; never allocates
  // more.
  [[nodiscard]] bool decompress(std::string_view frame, std::size_t raw_bytes, std::string& out);

 private:
  std::unique_ptr<ZSTD_DCtx_s, std::size_t (*)(ZSTD_DCtx_s*)> context_;
};

}  // namespace cli
