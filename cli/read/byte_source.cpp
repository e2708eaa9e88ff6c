#include "cli/read/byte_source.h"

#include <utility>

#include "cli/read/gzip_source.h"
#include "cli/read/plain_file.h"

namespace cli {

std::unique_ptr<ByteSource> open_byte_source(const std::string& path) {
  auto file = std::make_unique<PlainFile>(path);
  if (file->peek(2) != "\x1f\x8b") return file;
  return std::make_unique<GzipSource>(std::move(file), path);
}

}  // namespace cli
