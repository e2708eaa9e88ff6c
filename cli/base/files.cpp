#include "cli/base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/base/error.h"

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

TempFile::~TempFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::uint64_t TempFile::append(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (fd_ < 0) {
    std::string name = directory_ + "/tracetool.XXXXXX";
    fd_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd_ < 0) fail("cannot create a temporary file", errno);
    ::unlink(name.c_str());
  }
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
  throw Error(Exit::cannot_open, "{}: {}: {}; {}", directory_, what, std::strerror(error), make_room(error));
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

struct TemporaryName::Node {
  const std::string path;
  Node* next;
  const bool is_directory = false;
  std::atomic<bool> is_used{true};
};

namespace {

std::atomic<TemporaryName::Node*> s_first{nullptr};
static_assert(std::atomic<bool>::is_always_lock_free && decltype(s_first)::is_always_lock_free);

extern "C" void remove_and_die(int signal_number) {
  for (const TemporaryName::Node* node = s_first; node != nullptr; node = node->next) {
    if (node->is_used)
      node->is_directory ? ::rmdir(node->path.c_str())
                         : ::unlink(node->path.c_str());  // newest first, so a directory is empty by then
  }
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

void install_handlers() {
  for (int signal_number :
       {SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGBUS, SIGSEGV, SIGALRM, SIGPIPE, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU}) {
    struct sigaction now {};
    ::sigaction(signal_number, nullptr, &now);
    if (now.sa_handler == SIG_DFL) ::signal(signal_number, remove_and_die);
  }
}

// Falls back to the process id, which is unique on one host.
std::uint32_t random_number() {
  auto number = static_cast<std::uint32_t>(::getpid());
  [[maybe_unused]] const int failed = ::getentropy(&number, sizeof(number));
  return number;
}

TemporaryName::Node* remember(TemporaryName::Node* node) {
  install_handlers();
  while (!s_first.compare_exchange_weak(node->next, node)) {
  }
  return node;
}

}  // namespace

// The handlers have the name before the file exists.
TemporaryName::TemporaryName(std::string target)
    : target_(std::move(target)), node_(new Node{fmt::format("{}.tmp.{:08x}", target_, random_number()), s_first}) {
  remember(node_);
}

TemporaryName::~TemporaryName() {
  if (node_->is_used.exchange(false)) ::unlink(node_->path.c_str());
}

int TemporaryName::make_file() {
  const int fd = ::open(node_->path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) node_->is_used = false;
  return fd;
}

void TemporaryName::put_in_place() {
  if (std::rename(node_->path.c_str(), target_.c_str()) != 0)
    throw Error(Exit::cannot_open, "{}: cannot move the output there: {}; choose another output with -o", target_,
                std::strerror(errno));
  node_->is_used = false;
}

NewDirectory::NewDirectory(const std::string& path) {
  std::filesystem::path each;
  int error = 0;
  for (const std::filesystem::path& part : std::filesystem::path(path)) {
    each /= part;
    if (::mkdir(each.c_str(), 0777) == 0) {
      made_.push_back(remember(new TemporaryName::Node{each.string(), s_first, true}));
    } else {
      error = errno;
    }
  }
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) return;
  remove_empty();
  throw Error(Exit::cannot_open, "{}: cannot create this directory: {}; choose another with -o", path,
              error == EEXIST ? "it is a file" : std::strerror(error));
}

NewDirectory::~NewDirectory() { remove_empty(); }

void NewDirectory::remove_empty() {
  for (auto node = made_.rbegin(); node != made_.rend(); ++node) {
    if ((*node)->is_used.exchange(false)) ::rmdir((*node)->path.c_str());
  }
}

void put_in_place(Placement& files) {
  for (const auto& file : files) file->put_in_place();
  files.clear();
}

std::size_t read_at(int fd, void* to, std::size_t bytes, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < bytes) {
    errno = 0;
    const ssize_t got = ::pread(fd, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace cli
