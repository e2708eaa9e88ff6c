// Counts what an exporter writes, and gives it on until it is more than a limit: then what is below is dropped (a file
// leaves nothing behind) and the rest is only counted.
#pragma once
#include <cstdint>
#include <memory>

#include "cli/io/byte_sink.h"

namespace cli {

class LimitedSink : public ByteSink {
 public:
  // 0: no limit. `below` is not null.
  LimitedSink(std::unique_ptr<ByteSink> below, std::uint64_t limit_bytes)
      : below_(std::move(below)), limit_bytes_(limit_bytes) {}

  void write(std::string_view bytes) override {
    bytes_ += bytes.size();
    if (exceeded()) below_.reset();
    if (below_ != nullptr) below_->write(bytes);
  }
  // Not after the limit was exceeded.
  void finish() override { below_->finish(); }

  std::uint64_t bytes() const { return bytes_; }
  bool exceeded() const { return limit_bytes_ != 0 && bytes_ > limit_bytes_; }

 private:
  std::unique_ptr<ByteSink> below_;
  std::uint64_t limit_bytes_;
  std::uint64_t bytes_ = 0;
};

}  // namespace cli
