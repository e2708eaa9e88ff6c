// A TAR archive (POSIX ustar; a size of 8 GiB or more as base-256, as GNU tar writes it), written front to back.
#pragma once
#include <cstdint>
#include <string_view>

#include "cli/base/byte_sink.h"

namespace cli {

class TarWriter {
 public:
  explicit TarWriter(ByteSink& out) : out_(out) {}

  // Of at most 99 bytes. Then write() exactly `size` bytes, in any number of pieces.
  void member(std::string_view name, std::uint64_t size);
  void write(std::string_view bytes);

  // Once, last. Does not finish the sink.
  void finish();

 private:
  void pad();

  ByteSink& out_;
  std::uint64_t size_ = 0;  // of the member that is written
};

}  // namespace cli
