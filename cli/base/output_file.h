// An output file that appears complete or not at all: it is written under a temporary name (files.h), which finish()
// renames. "-" is stdout. A target that is not a regular file (/dev/null, a pipe) is written directly. The target of a
// symbolic link is replaced.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cli/base/files.h"

namespace cli {

// Byte sinks and compressors.

// Receives bytes: a file, stdout, or a compressor on top of either.
class ByteSink {
 public:
  virtual ~ByteSink() = default;

  // Writes all of `bytes`. Throws Error (cannot_open) if the target does not accept them.
  virtual void write(std::string_view bytes) = 0;

  // Completes the output, including the sinks below. Call it once, at the end; without it the output is discarded.
  virtual void finish() = 0;
};

// Compresses to gzip (RFC 1952) while writing. Uses ISA-L at level 1, which is several times as fast as zlib's level 1
// at the same size.
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

class OutputFile : public ByteSink {
 public:
  // With `later`, finish() leaves the renaming to it; it must outlive the file. Throws Error (cannot_open).
  explicit OutputFile(const std::string& path, Placement* later = nullptr);
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes) override;
  void finish() override;

  std::uint64_t bytes() const { return bytes_; }  // written so far

 private:
  [[noreturn]] void fail(const char* what, int error) const;

  std::string target_;
  std::unique_ptr<TemporaryName> temporary_;  // null if the target is written directly, or the output is in place
  Placement* later_;
  bool is_stdout_;
  int fd_ = -1;
  std::uint64_t bytes_ = 0;
};

// Returns an OutputFile, with a GzipSink on top if the name ends in ".gz" or `compress` is set.
std::unique_ptr<ByteSink> open_output(const std::string& path, Placement* later = nullptr, bool compress = false);

// Writes a whole file, or stdout if `path` is "-". Throws Error (cannot_open).
void write_output(const std::string& path, std::string_view text);

}  // namespace cli
