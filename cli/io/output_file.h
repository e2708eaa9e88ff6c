// A file that appears whole or not at all. Where the file system can, it has no name until finish(), which names it
// `NAME.tmp.PID` and renames it: a process that ends before, even by SIGKILL, leaves nothing behind and an older target
// untouched. Elsewhere (NFS) it is written as `NAME.tmp.PID`, which only SIGKILL leaves: it is not removed later, as its
// writer may live on another host.
// "-" is stdout; a target that is not a regular file (/dev/null, a pipe) is written directly. A symbolic link is
// followed: its target is replaced.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "cli/io/byte_sink.h"
#include "cli/io/placement.h"

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
  void open_nameless();
  void open_beside();
  void take_name();
  void put_in_place();
  [[noreturn]] void fail(const char* what, int error) const;

  std::string target_;
  std::string temporary_;  // "" while there is none
  Placement* later_;
  bool nameless_ = false;
  int fd_ = -1;
  int slot_ = -1;  // in the table of files that a signal removes
  std::uint64_t bytes_ = 0;
};

// An OutputFile, with a GzipSink on top when the name ends in ".gz".
std::unique_ptr<ByteSink> open_output(const std::string& path, Placement* later = nullptr);

}  // namespace cli
