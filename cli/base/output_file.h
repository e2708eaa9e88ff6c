// A file that appears whole or not at all: it is written under a temporary name (files.h), and finish() renames it.
// "-" is stdout; a target that is not a regular file (/dev/null, a pipe) is written directly. A symbolic link is
// followed: its target is replaced.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cli/base/files.h"

namespace cli {

// Where bytes go, and the compressor before it.

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

class OutputFile : public ByteSink {
 public:
  // With `later`, finish() leaves the last renaming to it; it outlives the file. Throws Error (cannot_open).
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
  std::unique_ptr<TemporaryName> temporary_;  // null: it is written directly, or in place
  Placement* later_;
  bool is_stdout_;
  int fd_ = -1;
  std::uint64_t bytes_ = 0;
};

// An OutputFile, with a GzipSink on top when the name ends in ".gz".
std::unique_ptr<ByteSink> open_output(const std::string& path, Placement* later = nullptr);

}  // namespace cli
