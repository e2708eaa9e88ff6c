// Scratch space on disk without a name: gone with the process, however that ends.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace cli {

class TempFile {
 public:
  explicit TempFile(std::string directory);  // opens nothing yet
  ~TempFile();
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  // Returns the offset at which `bytes` now lie, in one piece. Throws Error (cannot_open). Any thread.
  std::uint64_t append(std::string_view bytes);

  // Exactly `size` bytes that were appended at `offset`. Throws Error (cannot_open).
  void read(std::uint64_t offset, std::size_t size, std::string& out) const;

  // While nothing is appended.
  std::uint64_t bytes() const { return bytes_; }

 private:
  void open();
  [[noreturn]] void fail(const char* what, int error) const;

  std::string directory_;
  std::mutex mutex_;  // of append()
  int fd_ = -1;
  std::uint64_t bytes_ = 0;
};

// $TMPDIR, else the directory of the output (large and writable, as the output must fit there), else /tmp.
std::string scratch_directory(const std::string& output_path);

}  // namespace cli
