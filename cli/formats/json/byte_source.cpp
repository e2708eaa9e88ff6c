#include "cli/formats/json/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/base/error.h"

namespace cli {

std::string compressed_damage(std::uint64_t at, std::string_view what, std::uint64_t unread, std::string_view program) {
  const std::string behind = unread == 0 ? "" : fmt::format(", the {} bytes after it were not read", unread);
  return fmt::format("byte {} of the compressed file: {}{}; the file is damaged or incomplete: check it with {} -t", at,
                     what, behind, program);
}

bool is_gzip(std::string_view first_bytes) { return first_bytes.starts_with("\x1f\x8b"); }

// Skips a frame, or a skippable one.
bool is_zstd(std::string_view first_bytes) {
  if (first_bytes.size() < 4) return false;
  const bool skippable = (first_bytes[0] & 0xf0) == 0x50 && first_bytes.substr(1, 3) == "\x2a\x4d\x18";
  return skippable || first_bytes.starts_with("\x28\xb5\x2f\xfd");
}

namespace {

constexpr std::size_t kMagicBytes = 4;
constexpr int kMostLayers = 4;

// A source whose first bytes were already read.
class BegunSource : public ByteSource {
 public:
  explicit BegunSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)), begin_(kMagicBytes, '\0') {
    std::size_t held = 0;
    while (held < begin_.size()) {
      const std::size_t got = source_->read(begin_.data() + held, begin_.size() - held);
      if (got == 0) break;
      held += got;
    }
    begin_.resize(held);
  }
  std::string_view begin() const { return begin_; }
  std::size_t read(char* out, std::size_t size) override {
    if (given_ == begin_.size()) return source_->read(out, size);
    const std::size_t got = begin_.copy(out, size, given_);
    given_ += got;
    return got;
  }
  std::string damage() const override { return source_->damage(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string begin_;
  std::size_t given_ = 0;  // of begin_
};

}  // namespace

// A program and the server of a download may each have compressed the data.
std::unique_ptr<ByteSource> open_byte_source(const std::string& path) {
  auto file = std::make_unique<PlainFile>(path);
  std::string magic = file->peek(kMagicBytes);
  std::unique_ptr<ByteSource> source = std::move(file);
  for (int layer = 0; layer < kMostLayers && (is_zstd(magic) || is_gzip(magic)); ++layer) {
    if (is_zstd(magic))
      source = std::make_unique<ZstdSource>(std::move(source));
    else
      source = std::make_unique<GzipSource>(std::move(source));
    auto begun = std::make_unique<BegunSource>(std::move(source));
    magic = begun->begin();
    source = std::move(begun);
  }
  return source;
}

Window::Window(std::unique_ptr<ByteSource> source, std::size_t capacity)
    : source_(std::move(source)),
      capacity_(capacity),
      bytes_(std::make_unique_for_overwrite<char[]>(capacity + kPadding)) {
  std::memset(bytes_.get(), 0, kPadding);  // kept at end() from the first read on
}

bool Window::more() {
  if (at_end_) return false;
  make_room();
  const std::size_t before = end_;
  while (end_ < capacity_ && !at_end_) {
    const std::size_t got = source_->read(bytes_.get() + end_, capacity_ - end_);
    end_ += got;
    at_end_ = got == 0;
  }
  std::memset(bytes_.get() + end_, 0, kPadding);
  return end_ > before;
}

void Window::make_room() {
  base_offset_ += begin_;
  end_ -= begin_;
  const char* const held = bytes_.get() + std::exchange(begin_, 0);
  if (end_ < capacity_) {
    std::memmove(bytes_.get(), held, end_);
    return;
  }
  capacity_ *= 2;
  auto larger = std::make_unique_for_overwrite<char[]>(capacity_ + kPadding);
  std::memcpy(larger.get(), held, end_);
  bytes_ = std::move(larger);
}

namespace {

constexpr std::size_t kInputBytes = 64 << 10;

std::string_view explain(int result) {
  switch (result) {
    case ISAL_INVALID_WRAPPER:
      return "expected a gzip header";
    case ISAL_UNSUPPORTED_METHOD:
      return "expected the deflate method";
    case ISAL_INCORRECT_CHECKSUM:
      return "the checksum does not match the data";
    default:
      return "expected a valid deflate block";
  }
}

}  // namespace

GzipSource::GzipSource(std::unique_ptr<ByteSource> compressed)
    : compressed_(std::move(compressed)), input_(std::make_unique_for_overwrite<unsigned char[]>(kInputBytes)) {
  isal_inflate_init(&state_);
  state_.crc_flag = ISAL_GZIP;
}

std::size_t GzipSource::read(char* out, std::size_t size) {
  const std::size_t wanted = std::min<std::size_t>(size, std::numeric_limits<std::uint32_t>::max());
  state_.next_out = reinterpret_cast<std::uint8_t*>(out);
  state_.avail_out = static_cast<std::uint32_t>(wanted);
  while (!done_ && state_.avail_out != 0) inflate();
  return wanted - state_.avail_out;
}

void GzipSource::inflate() {
  if (state_.block_state == ISAL_BLOCK_FINISH) {
    done_ = !next_member();
    return;
  }
  const bool more = state_.avail_in != 0 || refill();
  const std::uint32_t input_before = state_.avail_in, output_before = state_.avail_out;
  const int result = isal_inflate(&state_);
  if (result != ISAL_DECOMP_OK && result != ISAL_END_INPUT) {
    fail(explain(result));
    return;
  }
  const bool progress = input_before != state_.avail_in || output_before != state_.avail_out;
  if (state_.block_state == ISAL_BLOCK_FINISH || progress) return;
  fail(more ? "the gzip data is invalid" : "the gzip data ends too early");
}

bool GzipSource::refill() {
  const std::size_t got = compressed_->read(reinterpret_cast<char*>(input_.get()), kInputBytes);
  input_end_offset_ += got;
  state_.next_in = input_.get();
  state_.avail_in = static_cast<std::uint32_t>(got);
  return got != 0;
}

// Zeros may follow a member as padding of tar and block devices; gzip(1) accepts them.
bool GzipSource::next_member() {
  bool padded = false;
  for (;; padded = true) {
    if (state_.avail_in == 0 && !refill()) return false;
    if (*state_.next_in != 0) break;
    ++state_.next_in;
    --state_.avail_in;
  }
  if (padded || *state_.next_in != 0x1f) return fail("expected the end of the file or another gzip member");
  isal_inflate_reset(&state_);
  state_.crc_flag = ISAL_GZIP;
  return true;
}

bool GzipSource::fail(std::string_view what) {
  done_ = true;
  const std::uint64_t at = input_end_offset_ - state_.avail_in;
  while (refill()) {
  }
  damage_ = compressed_damage(at, what, input_end_offset_ - at, "gzip");
  return false;
}

struct ZstdSource::Context {
  ZSTD_DCtx* zstd = ZSTD_createDCtx();
  ~Context() { ZSTD_freeDCtx(zstd); }
};

ZstdSource::ZstdSource(std::unique_ptr<ByteSource> compressed)
    : compressed_(std::move(compressed)), context_(std::make_unique<Context>()), input_(ZSTD_DStreamInSize()) {
  if (context_->zstd == nullptr) throw std::bad_alloc();
}

ZstdSource::~ZstdSource() = default;

std::size_t ZstdSource::read(char* out, std::size_t size) {
  ZSTD_outBuffer output{out, size, 0};
  while (!done_ && output.pos < size) {
    const bool more = at_ < end_ || refill();
    ZSTD_inBuffer input{input_.data(), end_, at_};
    const std::size_t before = output.pos;
    const std::size_t left = more || frame_open_ ? ZSTD_decompressStream(context_->zstd, &output, &input) : 0;
    at_ = input.pos;
    if (ZSTD_isError(left)) fail(ZSTD_getErrorName(left));
    frame_open_ = left != 0;
    if (more || output.pos > before) continue;
    if (frame_open_) fail("the zstd data ends too early");
    done_ = true;
  }
  return output.pos;
}

bool ZstdSource::refill() {
  input_offset_ += end_;
  at_ = 0;
  end_ = compressed_->read(input_.data(), input_.size());
  return end_ > 0;
}

void ZstdSource::fail(const std::string& what) {
  done_ = true;
  if (!damage_.empty()) return;
  const std::uint64_t at = input_offset_ + at_;
  while (refill()) {
  }
  damage_ = compressed_damage(at, what, input_offset_ + end_ - at, "zstd");
}

namespace {

const char* next_step(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
      return "; raise the open file limit (ulimit -n)";
    case EISDIR:
      return "; give the files in it";
    case ENOENT:
    case EACCES:
    case EPERM:
      return "; check the path and its permissions";
    default:
      return "; copy the file again, or omit it";
  }
}

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  throw Error(Exit::cannot_open, path + ": cannot " + what + ": " + std::strerror(error) + next_step(error));
}

}  // namespace

PlainFile::PlainFile(const std::string& path) : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) fail(path, "open", errno);
  struct stat status {};
  if (::fstat(fd_, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(fd_);
    fail(path, "read as a trace", EISDIR);
  }
}

PlainFile::~PlainFile() { ::close(fd_); }

std::size_t PlainFile::read(char* out, std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(fd_, out, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) fail(path_, "read", errno);
  }
}

std::string PlainFile::peek(std::size_t size) const {
  std::string bytes(size, '\0');
  const ssize_t got = ::pread(fd_, bytes.data(), size, 0);
  if (got < 0) fail(path_, "read", errno);
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

namespace {

[[noreturn]] void fail_stdin(const std::string& what) {
  throw Error(Exit::cannot_open, "standard input: cannot " + what + ": " + std::strerror(errno));
}

int unlinked_file() {
  const char* directory = std::getenv("TMPDIR");
  std::string name =
      std::string(directory != nullptr && *directory != '\0' ? directory : "/tmp") + "/tracetool-stdin-XXXXXX";
  const int fd = ::mkstemp(name.data());
  if (fd < 0) fail_stdin("create a file for it at " + name + " (set TMPDIR to a directory with enough space)");
  ::unlink(name.c_str());
  return fd;
}

void write_all(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(fd, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_stdin("copy it to a file (set TMPDIR to a directory with enough space)");
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

void copy_stdin(int to) {
  std::vector<char> bytes(1 << 20);
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got == 0) return;
    if (got > 0)
      write_all(to, bytes.data(), static_cast<std::size_t>(got));
    else if (errno != EINTR)
      fail_stdin("read it");
  }
}

}  // namespace

std::string stdin_as_file() {
  struct stat status {};
  if (::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode)) return "/proc/self/fd/0";
  static const int copy = [] {
    const int fd = unlinked_file();
    copy_stdin(fd);
    return fd;
  }();
  return "/proc/self/fd/" + std::to_string(copy);
}

std::string with_stdin_named(std::string message) {
  const std::string path = stdin_as_file();
  for (std::size_t at = 0; (at = message.find(path, at)) != message.npos;) message.replace(at, path.size(), kStdinName);
  return message;
}

}  // namespace cli
