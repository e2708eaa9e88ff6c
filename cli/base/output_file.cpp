#include "cli/base/output_file.h"

#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "cli/base/error.h"

namespace cli {

namespace {

constexpr std::uint32_t kLevel = 1;
constexpr std::size_t kLevelBytes = ISAL_DEF_LVL1_DEFAULT;
constexpr std::size_t kOutputBytes = 256 << 10;
constexpr std::size_t kMaxInput = 1u << 30;  // the library counts in 32 bits

const char* what_to_do(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "the disk is full; free some space, or choose another output with -o";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose an output that you can write to with -o";
    case ENOENT:
      return "create that directory first, or choose another output with -o";
    case EISDIR:
      return "that is a directory; give a file with -o";
    case EFBIG:
      return "the file system or a limit (ulimit -f) allows no larger file; choose another output with -o";
    case EMFILE:
    case ENFILE:
      return "raise the open file limit (ulimit -n)";
    case EPIPE:
      return "the program that reads the output has ended";
    default:
      return "choose another output with -o";
  }
}

// Returns the target of a symbolic link, so that it is replaced instead of the link.
std::string resolve_link(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const auto resolved = std::filesystem::weakly_canonical(path, error);
  return error ? path : resolved.string();
}

}  // namespace

struct GzipSink::State {
  isal_zstream stream{};
  std::vector<std::uint8_t> level = std::vector<std::uint8_t>(kLevelBytes);
  std::vector<std::uint8_t> output = std::vector<std::uint8_t>(kOutputBytes);
};

GzipSink::GzipSink(std::unique_ptr<ByteSink> below) : below_(std::move(below)), state_(std::make_unique<State>()) {
  isal_zstream& stream = state_->stream;
  isal_deflate_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.level = kLevel;
  stream.level_buf = state_->level.data();
  stream.level_buf_size = static_cast<std::uint32_t>(state_->level.size());
}

GzipSink::~GzipSink() = default;

void GzipSink::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kMaxInput);
    bytes.remove_prefix(part.size());
    state_->stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(part.data()));
    state_->stream.avail_in = static_cast<std::uint32_t>(part.size());
    deflate();
  }
}

// Runs until the input is consumed and the output did not fill its buffer; then no more output is ready.
void GzipSink::deflate() {
  isal_zstream& stream = state_->stream;
  do {
    stream.next_out = state_->output.data();
    stream.avail_out = static_cast<std::uint32_t>(state_->output.size());
    const int result = isal_deflate(&stream);
    if (result != COMP_OK) throw Error(Exit::cannot_open, "gzip: the compressor failed ({})", result);
    const std::size_t made = state_->output.size() - stream.avail_out;
    below_->write({reinterpret_cast<const char*>(state_->output.data()), made});
  } while (stream.avail_out == 0);
}

void GzipSink::finish() {
  state_->stream.end_of_stream = 1;
  state_->stream.avail_in = 0;
  deflate();
  below_->finish();
}

OutputFile::OutputFile(const std::string& path, Placement* later)
    : target_(path == "-" ? "stdout" : resolve_link(path)), later_(later), is_stdout_(path == "-") {
  if (is_stdout_) {
    fd_ = STDOUT_FILENO;
    return;
  }
  struct stat status {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail("cannot write", EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    do {
      temporary_ = std::make_unique<TemporaryName>(target_);
      fd_ = temporary_->make_file();
    } while (fd_ < 0 && errno == EEXIST);
  }
  if (fd_ < 0) fail("cannot write", errno);
}

OutputFile::~OutputFile() {
  if (fd_ >= 0 && !is_stdout_) ::close(fd_);
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

// Some file systems (NFS) report a full disk only at close.
void OutputFile::finish() {
  if (is_stdout_) return;
  const int closed = ::close(fd_);
  fd_ = -1;
  if (closed != 0) fail("cannot write", errno);
  if (temporary_ == nullptr) return;
  if (later_ == nullptr) return temporary_->put_in_place();
  later_->push_back(std::move(temporary_));
}

void OutputFile::fail(const char* what, int error) const {
  throw Error(Exit::cannot_open, "{}: {}: {} (after {} bytes); {}", target_, what, std::strerror(error), bytes_,
              what_to_do(error));
}

std::unique_ptr<ByteSink> open_output(const std::string& path, Placement* later, bool compress) {
  auto file = std::make_unique<OutputFile>(path, later);
  if (!compress && !path.ends_with(".gz")) return file;
  return std::make_unique<GzipSink>(std::move(file));
}

void write_output(const std::string& path, std::string_view text) {
  OutputFile out(path);
  out.write(text);
  out.finish();
}

}  // namespace cli
