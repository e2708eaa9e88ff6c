#include "cli/io/placement.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "cli/io/remove_on_signal.h"
#include "cli/model/error.h"

namespace cli {
namespace {

constexpr int kMostOpen = 32;

[[noreturn]] void fail(const std::string& target) {
  throw Error(Exit::cannot_open,
              fmt::format("{}: cannot put in place: {}; choose another output with -o", target, std::strerror(errno)));
}

}  // namespace

std::string name_file(int descriptor, const std::string& target, int& slot) {
  const std::string name = fmt::format("{}.tmp.{}", target, ::getpid());
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  ::unlink(name.c_str());
  slot = remove_on_signal(name);
  if (::linkat(AT_FDCWD, path.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return name;
  const int error = errno;
  keep_on_signal(slot);
  errno = error;
  return "";
}

Placement::~Placement() {
  for (const File& file : files_) {
    if (file.descriptor >= 0) ::close(file.descriptor);
    if (file.temporary.empty()) continue;
    ::unlink(file.temporary.c_str());
    keep_on_signal(file.slot);
  }
}

void Placement::add(std::string temporary, std::string target, int slot) {
  files_.push_back({std::move(temporary), std::move(target), slot, -1});
}

bool Placement::add(int descriptor, const std::string& target) {
  if (open_ == kMostOpen) return false;
  files_.push_back({"", target, -1, descriptor});
  ++open_;
  return true;
}

void Placement::name(File& file) {
  file.temporary = name_file(file.descriptor, file.target, file.slot);
  if (file.temporary.empty()) fail(file.target);
  const int closed = ::close(std::exchange(file.descriptor, -1));
  if (closed != 0) fail(file.target);
}

// Those that are renamed have no temporary any more: to remove that name is harmless.
void Placement::place() {
  for (File& file : files_) {
    if (file.descriptor >= 0) name(file);
  }
  for (const File& file : files_) {
    if (::rename(file.temporary.c_str(), file.target.c_str()) != 0) fail(file.target);
  }
  for (const File& file : files_) keep_on_signal(file.slot);
  files_.clear();
  open_ = 0;
}

}  // namespace cli
