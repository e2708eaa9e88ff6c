// The inside of a gzip file (RFC 1952: members back to back), decompressed by ISA-L as it is asked for. Checksums and
// lengths of every member are verified. What was decompressed before damage is handed out.
#pragma once
#include <isa-l/igzip_lib.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cli/formats/json/byte_source.h"

namespace cli {

class GzipSource : public ByteSource {
 public:
  // `compressed` begins with a gzip member.
  explicit GzipSource(std::unique_ptr<ByteSource> compressed);

  std::size_t read(char* out, std::size_t size) override;
  std::string damage() const override { return damage_; }

 private:
  void inflate();
  bool refill();
  bool next_member();
  bool fail(std::string_view what);

  std::unique_ptr<ByteSource> compressed_;
  std::unique_ptr<unsigned char[]> input_;
  std::uint64_t input_end_offset_ = 0;  // in the compressed file, of the end of what input_ holds
  inflate_state state_;
  bool done_ = false;
  std::string damage_;
};

}  // namespace cli
