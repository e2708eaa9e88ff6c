#include "cli/formats/json/gzip_source.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace cli {
namespace {

constexpr std::size_t kInputBytes = 64 << 10;

std::string_view explain(int result) {
  switch (result) {
    case ISAL_INVALID_WRAPPER:
      return "expected a gzip header";
    case ISAL_UNSUPPORTED_METHOD:
      return "expected the deflate method";
    case ISAL_INCORRECT_CHECKSUM:
      return "the checksum does not match the data";
    default:
      return "expected a valid deflate block";
  }
}

}  // namespace

GzipSource::GzipSource(std::unique_ptr<ByteSource> compressed)
    : compressed_(std::move(compressed)), input_(std::make_unique_for_overwrite<unsigned char[]>(kInputBytes)) {
  isal_inflate_init(&state_);
  state_.crc_flag = ISAL_GZIP;
}

std::size_t GzipSource::read(char* out, std::size_t size) {
  const std::size_t wanted = std::min<std::size_t>(size, std::numeric_limits<std::uint32_t>::max());
  state_.next_out = reinterpret_cast<std::uint8_t*>(out);
  state_.avail_out = static_cast<std::uint32_t>(wanted);
  while (!done_ && state_.avail_out != 0) inflate();
  return wanted - state_.avail_out;
}

void GzipSource::inflate() {
  if (state_.block_state == ISAL_BLOCK_FINISH) {
    done_ = !next_member();
    return;
  }
  const bool more = state_.avail_in != 0 || refill();
  const std::uint32_t input_before = state_.avail_in, output_before = state_.avail_out;
  const int result = isal_inflate(&state_);
  if (result != ISAL_DECOMP_OK && result != ISAL_END_INPUT) {
    fail(explain(result));
    return;
  }
  const bool progress = input_before != state_.avail_in || output_before != state_.avail_out;
  if (state_.block_state == ISAL_BLOCK_FINISH || progress) return;
  fail(more ? "the gzip data is invalid" : "the gzip data ends too early");
}

bool GzipSource::refill() {
  const std::size_t got = compressed_->read(reinterpret_cast<char*>(input_.get()), kInputBytes);
  input_end_offset_ += got;
  state_.next_in = input_.get();
  state_.avail_in = static_cast<std::uint32_t>(got);
  return got != 0;
}

// Zeros may follow a member: tar and block devices pad so, and gzip(1) accepts it.
bool GzipSource::next_member() {
  bool padded = false;
  for (;; padded = true) {
    if (state_.avail_in == 0 && !refill()) return false;
    if (*state_.next_in != 0) break;
    ++state_.next_in;
    --state_.avail_in;
  }
  if (padded || *state_.next_in != 0x1f) return fail("expected the end of the file or another gzip member");
  isal_inflate_reset(&state_);
  state_.crc_flag = ISAL_GZIP;
  return true;
}

bool GzipSource::fail(std::string_view what) {
  done_ = true;
  const std::uint64_t at = input_end_offset_ - state_.avail_in;
  while (refill()) {
  }
  damage_ = compressed_damage(at, what, input_end_offset_ - at, "gzip");
  return false;
}

}  // namespace cli
