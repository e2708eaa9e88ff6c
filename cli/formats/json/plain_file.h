// A file read by read(2). Owns its descriptor.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "cli/formats/json/byte_source.h"

namespace cli {

class PlainFile : public ByteSource {
 public:
  explicit PlainFile(const std::string& path);  // throws Error (cannot_open)
  ~PlainFile() override;
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  std::size_t read(char* out, std::size_t size) override;
  int plain_file() const override { return fd_; }

  // The first bytes of the file, fewer where it is shorter; the position stays. Throws Error (cannot_open).
  std::string peek(std::size_t size) const;

 private:
  std::string path_;
  int fd_ = -1;
};

}  // namespace cli
