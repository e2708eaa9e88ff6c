#include "cli/formats/json/zstd_source.h"

#include <zstd.h>

#include <new>
#include <utility>

namespace cli {

struct ZstdSource::Context {
  ZSTD_DCtx* zstd = ZSTD_createDCtx();
  ~Context() { ZSTD_freeDCtx(zstd); }
};

ZstdSource::ZstdSource(std::unique_ptr<ByteSource> compressed)
    : compressed_(std::move(compressed)), context_(std::make_unique<Context>()), input_(ZSTD_DStreamInSize()) {
  if (context_->zstd == nullptr) throw std::bad_alloc();
}

ZstdSource::~ZstdSource() = default;

std::size_t ZstdSource::read(char* out, std::size_t size) {
  ZSTD_outBuffer output{out, size, 0};
  while (!done_ && output.pos < size) {
    const bool more = at_ < end_ || refill();
    ZSTD_inBuffer input{input_.data(), end_, at_};
    const std::size_t before = output.pos;
    const std::size_t left = more || frame_open_ ? ZSTD_decompressStream(context_->zstd, &output, &input) : 0;
    at_ = input.pos;
    if (ZSTD_isError(left)) fail(ZSTD_getErrorName(left));
    frame_open_ = left != 0;
    if (more || output.pos > before) continue;
    if (frame_open_) fail("the zstd data ends too early");
    done_ = true;
  }
  return output.pos;
}

bool ZstdSource::refill() {
  input_offset_ += end_;
  at_ = 0;
  end_ = compressed_->read(input_.data(), input_.size());
  return end_ > 0;
}

void ZstdSource::fail(const std::string& what) {
  done_ = true;
  if (!damage_.empty()) return;
  const std::uint64_t at = input_offset_ + at_;
  while (refill()) {
  }
  damage_ = compressed_damage(at, what, input_offset_ + end_ - at, "zstd");
}

}  // namespace cli
