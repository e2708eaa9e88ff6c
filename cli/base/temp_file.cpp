#include "cli/base/temp_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/base/read_at.h"
#include "cli/trace/error.h"

namespace cli {
namespace {

const char* make_room(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
      return "raise the open file limit (ulimit -n)";
    case EFBIG:
      return "raise the file size limit (ulimit -f), or increase --memory";
    default:
      return "set TMPDIR to a directory with more space";
  }
}

}  // namespace

TempFile::TempFile(std::string directory) : directory_(std::move(directory)) {}

TempFile::~TempFile() {
  if (fd_ >= 0) ::close(fd_);
}

void TempFile::open() {
  std::string name = directory_ + "/tracetool.XXXXXX";
  fd_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd_ < 0) fail("cannot create a temporary file", errno);
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
              fmt::format("{}: {}: {}; {}", directory_, what, std::strerror(error), make_room(error)));
}

std::string scratch_directory(const std::string& output_path) {
  const char* chosen = std::getenv("TMPDIR");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  std::error_code error;
  const auto directory = std::filesystem::path(output_path).parent_path();
  if (output_path == "-" || output_path.empty()) return "/tmp";
  if (std::filesystem::exists(output_path, error) && !std::filesystem::is_regular_file(output_path, error))
    return "/tmp";
  return directory.empty() ? "." : directory.string();
}

}  // namespace cli
