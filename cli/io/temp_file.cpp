#include "cli/io/temp_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/io/read_at.h"
#include "cli/model/error.h"

namespace cli {

TempFile::TempFile(std::string folder) : folder_(std::move(folder)) {}

TempFile::~TempFile() {
  if (fd_ >= 0) ::close(fd_);
}

void TempFile::open() {
#ifdef O_TMPFILE
  fd_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
  if (fd_ >= 0) return;
  std::string name = folder_ + "/tracetool.XXXXXX";  // not every file system has files without a name
  fd_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd_ < 0) fail("cannot make a temporary file", errno);
  ::unlink(name.c_str());
}

std::uint64_t TempFile::append(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (fd_ < 0) open();
  const std::uint64_t at = bytes_;
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(bytes_));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write a temporary file", errno);
    bytes_ += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return at;
}

void TempFile::read(std::uint64_t offset, std::size_t size, std::string& out) const {
  out.resize(size);
  if (read_at(fd_, out.data(), size, offset) < size) fail("cannot read a temporary file", errno == 0 ? EIO : errno);
}

void TempFile::fail(const char* what, int error) const {
  throw Error(Exit::cannot_open,
              fmt::format("{}: {}: {}; set TMPDIR to a directory with more room", folder_, what, std::strerror(error)));
}

std::string scratch_folder(const std::string& output_path) {
  const char* chosen = std::getenv("TMPDIR");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  std::error_code error;
  const auto folder = std::filesystem::path(output_path).parent_path();
  if (output_path == "-" || output_path.empty()) return "/tmp";
  if (std::filesystem::exists(output_path, error) && !std::filesystem::is_regular_file(output_path, error))
    return "/tmp";
  return folder.empty() ? "." : folder.string();
}

}  // namespace cli
