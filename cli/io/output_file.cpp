#include "cli/io/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/io/gzip_sink.h"
#include "cli/io/remove_on_signal.h"
#include "cli/model/error.h"

namespace cli {
namespace {

const char* what_to_do(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "the disk is full: free some space, or choose another output with -o";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose an output that you may write to with -o";
    case ENOENT:
      return "make that directory first, or choose another output with -o";
    case EISDIR:
      return "that is a directory: name a file in it with -o";
    case EFBIG:
      return "the file system or a limit (ulimit -f) allows no larger file: choose another output with -o";
    case EPIPE:
      return "the program that reads the output ended";
    default:
      return "choose another output with -o";
  }
}

// A link's target is what is replaced, not the link.
std::string resolve_link(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const auto resolved = std::filesystem::weakly_canonical(path, error);
  return error ? path : resolved.string();
}

}  // namespace

OutputFile::OutputFile(const std::string& path, Placement* later)
    : target_(path == "-" ? "stdout" : resolve_link(path)), later_(later) {
  if (path == "-") {
    fd_ = STDOUT_FILENO;
    return;
  }
  struct stat status {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail("cannot write", EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    open_nameless();
    if (fd_ < 0) open_beside();
  }
  if (fd_ < 0) fail("cannot write", errno);
}

// Such a file gets its name through /proc.
void OutputFile::open_nameless() {
#ifdef O_TMPFILE
  if (::access("/proc/self/fd", X_OK) != 0) return;
  const std::string folder = std::filesystem::path(target_).parent_path().string();
  fd_ = ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  nameless_ = fd_ >= 0;
#endif
}

void OutputFile::take_name() {
  temporary_ = name_file(fd_, target_, slot_);
  if (temporary_.empty()) fail("cannot put in place", errno);
}

// The name is only ours: a file of that name is left from a process that had our pid and was killed.
void OutputFile::open_beside() {
  temporary_ = fmt::format("{}.tmp.{}", target_, ::getpid());
  ::unlink(temporary_.c_str());
  slot_ = remove_on_signal(temporary_);
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ >= 0) return;
  const int error = errno;
  keep_on_signal(slot_);
  temporary_.clear();
  errno = error;
}

OutputFile::~OutputFile() {
  if (fd_ >= 0 && fd_ != STDOUT_FILENO) ::close(fd_);
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    keep_on_signal(slot_);
  }
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write", errno);
    bytes_ += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Some file systems (NFS) say only at close that the disk is full.
void OutputFile::finish() {
  if (fd_ == STDOUT_FILENO) return;
  if (nameless_ && later_ != nullptr && later_->add(fd_, target_)) return void(fd_ = -1);
  if (nameless_) take_name();
  const int closed = ::close(fd_);
  fd_ = -1;
  if (closed != 0) fail("cannot write", errno);
  if (!temporary_.empty()) put_in_place();
}

void OutputFile::put_in_place() {
  if (later_ != nullptr) {
    later_->add(temporary_, target_, slot_);
    return temporary_.clear();
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot put in place", errno);
  temporary_.clear();
  keep_on_signal(slot_);
}

void OutputFile::fail(const char* what, int error) const {
  throw Error(Exit::cannot_open, fmt::format("{}: {}: {} (after {} bytes); {}", target_, what, std::strerror(error),
                                             bytes_, what_to_do(error)));
}

std::unique_ptr<ByteSink> open_output(const std::string& path, Placement* later) {
  auto file = std::make_unique<OutputFile>(path, later);
  if (path.size() < 3 || path.compare(path.size() - 3, 3, ".gz") != 0) return file;
  return std::make_unique<GzipSink>(std::move(file));
}

}  // namespace cli
