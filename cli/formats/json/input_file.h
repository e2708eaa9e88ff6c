// The files that bytes come from: one with a name, or standard input.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "cli/formats/json/byte_source.h"
#include "cli/base/error.h"

namespace cli {

// A file read by read(2). Owns its descriptor.
class PlainFile : public ByteSource {
 public:
  explicit PlainFile(const std::string& path);  // throws Error (cannot_open)
  ~PlainFile() override;
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  std::size_t read(char* out, std::size_t size) override;
  int plain_file() const override { return fd_; }

  // The first bytes of the file, fewer where it is shorter; the position stays. Throws Error (cannot_open).
  std::string peek(std::size_t size) const;

 private:
  std::string path_;
  int fd_ = -1;
};

// Standard input as a file that can be opened by name, more than once, from its start: readers sniff, scan and map.

// A path under /proc/self/fd, good until the program ends. A pipe is first copied whole to an unlinked file in $TMPDIR
// (else /tmp), never into memory. Throws Error (cannot_open).
std::string stdin_as_file();

inline constexpr const char* kStdinName = "<stdin>";

// The path of stdin_as_file() in a message becomes kStdinName.
std::string with_stdin_named(std::string message);

// Calls f; what it throws names standard input as its user does.
template <typename F>
void naming_stdin(F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const Error& error) {
    throw Error(error.exit(), with_stdin_named(error.what()));
  }
}

}  // namespace cli
