#include "cli/formats/json/byte_source.h"

#include <fmt/format.h>

#include <utility>

#include "cli/formats/json/gzip_source.h"
#include "cli/formats/json/plain_file.h"
#include "cli/formats/json/zstd_source.h"

namespace cli {

std::string compressed_damage(std::uint64_t at, std::string_view what, std::uint64_t unread, std::string_view program) {
  const std::string behind = unread == 0 ? "" : fmt::format(", the {} bytes after it were not read", unread);
  return fmt::format("byte {} of the compressed file: {}{}; the file is damaged or incomplete: check it with {} -t", at, what,
                     behind, program);
}

bool is_gzip(std::string_view first_bytes) { return first_bytes.starts_with("\x1f\x8b"); }

// A frame, or a skippable one.
bool is_zstd(std::string_view first_bytes) {
  if (first_bytes.size() < 4) return false;
  const bool skippable = (first_bytes[0] & 0xf0) == 0x50 && first_bytes.substr(1, 3) == "\x2a\x4d\x18";
  return skippable || first_bytes.starts_with("\x28\xb5\x2f\xfd");
}

namespace {

constexpr std::size_t kMagicBytes = 4;
constexpr int kMostLayers = 4;

// A source whose first bytes were looked at.
class BegunSource : public ByteSource {
 public:
  explicit BegunSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)), begin_(kMagicBytes, '\0') {
    std::size_t held = 0;
    while (held < begin_.size()) {
      const std::size_t got = source_->read(begin_.data() + held, begin_.size() - held);
      if (got == 0) break;
      held += got;
    }
    begin_.resize(held);
  }
  std::string_view begin() const { return begin_; }
  std::size_t read(char* out, std::size_t size) override {
    if (given_ == begin_.size()) return source_->read(out, size);
    const std::size_t got = begin_.copy(out, size, given_);
    given_ += got;
    return got;
  }
  std::string damage() const override { return source_->damage(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string begin_;
  std::size_t given_ = 0;  // of begin_
};

}  // namespace

// What is in the compressed file may be compressed again: by a program, and by the server that it was loaded from.
std::unique_ptr<ByteSource> open_byte_source(const std::string& path) {
  auto file = std::make_unique<PlainFile>(path);
  std::string magic = file->peek(kMagicBytes);
  std::unique_ptr<ByteSource> source = std::move(file);
  for (int layer = 0; layer < kMostLayers && (is_zstd(magic) || is_gzip(magic)); ++layer) {
    if (is_zstd(magic))
      source = std::make_unique<ZstdSource>(std::move(source));
    else
      source = std::make_unique<GzipSource>(std::move(source));
    auto begun = std::make_unique<BegunSource>(std::move(source));
    magic = begun->begin();
    source = std::move(begun);
  }
  return source;
}

}  // namespace cli
