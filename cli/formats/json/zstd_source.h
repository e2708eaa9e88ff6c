// The inside of a zstd file (RFC 8878: frames back to back, skippable ones among them), decompressed as it is asked
// for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/formats/json/byte_source.h"

namespace cli {

class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> compressed);
  ~ZstdSource() override;

  std::size_t read(char* out, std::size_t size) override;
  std::string damage() const override { return damage_; }

 private:
  struct Context;
  bool refill();
  void fail(const std::string& what);

  std::unique_ptr<ByteSource> compressed_;
  std::unique_ptr<Context> context_;
  std::vector<char> input_;
  std::size_t at_ = 0, end_ = 0;    // what input_ holds
  std::uint64_t input_offset_ = 0;  // in the compressed file, of input_[0]
  bool frame_open_ = false, done_ = false;
  std::string damage_;
};

}  // namespace cli
