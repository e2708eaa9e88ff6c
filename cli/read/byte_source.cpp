#include "cli/read/byte_source.h"

#include <fmt/format.h>

#include <utility>

#include "cli/read/gzip_source.h"
#include "cli/read/plain_file.h"
#include "cli/read/zstd_source.h"

namespace cli {

std::string compressed_damage(std::uint64_t at, std::string_view what, std::uint64_t unread, std::string_view program) {
  const std::string behind = unread == 0 ? "" : fmt::format(", the {} bytes behind were not read", unread);
  return fmt::format("byte {} of the compressed file: {}{}; the file is damaged or was cut: check it with {} -t", at, what,
                     behind, program);
}

bool is_gzip(std::string_view first_bytes) { return first_bytes.starts_with("\x1f\x8b"); }

// A frame, or a skippable one.
bool is_zstd(std::string_view first_bytes) {
  if (first_bytes.size() < 4) return false;
  const bool skippable = (first_bytes[0] & 0xf0) == 0x50 && first_bytes.substr(1, 3) == "\x2a\x4d\x18";
  return skippable || first_bytes.starts_with("\x28\xb5\x2f\xfd");
}

std::unique_ptr<ByteSource> open_byte_source(const std::string& path) {
  auto file = std::make_unique<PlainFile>(path);
  const std::string magic = file->peek(4);
  if (is_zstd(magic)) return std::make_unique<ZstdSource>(std::move(file));
  if (is_gzip(magic)) return std::make_unique<GzipSource>(std::move(file));
  return file;
}

}  // namespace cli
