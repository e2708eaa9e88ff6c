// A file that appears whole or not at all: it is written under a temporary name (files.h), and finish() renames it.
// "-" is stdout; a target that is not a regular file (/dev/null, a pipe) is written directly. A symbolic link is
// followed: its target is replaced.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "cli/base/sinks.h"
#include "cli/base/files.h"

namespace cli {

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
