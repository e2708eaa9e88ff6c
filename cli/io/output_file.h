// A file that appears whole or not at all: written beside its target as `NAME.tmp.PID` and renamed by finish().
// Dropped before that (an exception, SIGINT, SIGTERM, SIGHUP), it leaves nothing behind and an older target untouched.
// "-" is stdout; a target that is not a regular file (/dev/null, a pipe) is written directly. A symbolic link is
// followed: its target is replaced.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "cli/io/byte_sink.h"

namespace cli {

class OutputFile : public ByteSink {
 public:
  explicit OutputFile(const std::string& path);  // throws Error (cannot_open)
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes) override;
  void finish() override;

  std::uint64_t bytes() const { return bytes_; }  // written so far

 private:
  void open_beside(const std::string& path);
  [[noreturn]] void fail(const char* what, int error) const;

  std::string target_;
  std::string temporary_;  // "" while there is none
  int fd_ = -1;
  int slot_ = -1;  // in the table of files that a signal removes
  std::uint64_t bytes_ = 0;
};

// An OutputFile, with a GzipSink on top when the name ends in ".gz".
std::unique_ptr<ByteSink> open_output(const std::string& path);

}  // namespace cli
