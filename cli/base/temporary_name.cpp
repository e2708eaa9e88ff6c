#include "cli/base/temporary_name.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "cli/trace/error.h"

namespace cli {

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
    if (node->is_used) node->is_directory ? ::rmdir(node->path.c_str()) : ::unlink(node->path.c_str());  // newest first, so a directory is empty by then
  }
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

void install_handlers() {
  for (int signal_number : {SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGBUS, SIGSEGV, SIGALRM, SIGPIPE, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU}) {
    struct sigaction now {};
    ::sigaction(signal_number, nullptr, &now);
    if (now.sa_handler == SIG_DFL) ::signal(signal_number, remove_and_die);
  }
}

// Its process id, which is enough on one host, where the system gives none.
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

// Handlers know the name before there is a file of it.
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
  if (std::rename(node_->path.c_str(), target_.c_str()) != 0) {
    throw Error(Exit::cannot_open, fmt::format("{}: cannot move the output there: {}; choose another output with -o", target_,
                                               std::strerror(errno)));
  }
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
  throw Error(Exit::cannot_open, fmt::format("{}: cannot create this directory: {}; choose another with -o", path,
                                             error == EEXIST ? "it is a file" : std::strerror(error)));
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

}  // namespace cli
