#include "cli/base/zstd_codec.h"

#include <zstd.h>

#include <new>

#include "cli/base/error.h"

namespace cli {

std::size_t largest_frame(std::size_t raw_bytes) { return ZSTD_compressBound(raw_bytes); }

ZstdCompressor::ZstdCompressor(int level) : context_(ZSTD_createCCtx(), ZSTD_freeCCtx) {
  if (context_ == nullptr) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
}

void ZstdCompressor::compress(std::string_view raw, std::string& out) {
  out.resize(ZSTD_compressBound(raw.size()));
  const std::size_t size = ZSTD_compress2(context_.get(), out.data(), out.size(), raw.data(), raw.size());
  if (ZSTD_isError(size)) throw Error(Exit::cannot_open, "zstd: {}", ZSTD_getErrorName(size));
  out.resize(size);
}

ZstdDecompressor::ZstdDecompressor() : context_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
  if (context_ == nullptr) throw std::bad_alloc();
}

bool ZstdDecompressor::decompress(std::string_view frame, std::size_t raw_bytes, std::string& out) {
  if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != raw_bytes) return false;
  if (ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size()) return false;
  out.resize(raw_bytes);
  return ZSTD_decompressDCtx(context_.get(), out.data(), raw_bytes, frame.data(), frame.size()) == raw_bytes;
}

}  // namespace cli
