// Where bytes go, and the compressor before it.
#pragma once
#include <memory>
#include <string_view>

namespace cli {

// Where bytes go: a file, stdout, a compressor on top of either.
class ByteSink {
 public:
  virtual ~ByteSink() = default;

  // Takes all of `bytes`. Throws Error (cannot_open) when the target cannot take them.
  virtual void write(std::string_view bytes) = 0;

  // Ends the output: what was written is complete and in place, also in the sinks below. Call once, last; without it
  // the output is dropped.
  virtual void finish() = 0;
};

// Compresses to gzip (RFC 1952) as it is written, by ISA-L at level 1: at the same size as zlib's level 1 several times
// as fast.
class GzipSink : public ByteSink {
 public:
  explicit GzipSink(std::unique_ptr<ByteSink> below);
  ~GzipSink() override;

  void write(std::string_view bytes) override;
  void finish() override;  // ends the stream and finishes the sink below

 private:
  struct State;
  void deflate();

  std::unique_ptr<ByteSink> below_;
  std::unique_ptr<State> state_;
};

}  // namespace cli
