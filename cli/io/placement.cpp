#include "cli/io/placement.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "cli/error.h"
#include "cli/io/remove_on_signal.h"

namespace cli {

Placement::~Placement() {
  for (const File& file : files_) {
    ::unlink(file.temporary.c_str());
    keep_on_signal(file.slot);
  }
}

void Placement::add(std::string temporary, std::string target, int slot) {
  files_.push_back({std::move(temporary), std::move(target), slot});
}

// Those that are renamed have no temporary any more: to remove that name is harmless.
void Placement::place() {
  for (const File& file : files_) {
    if (::rename(file.temporary.c_str(), file.target.c_str()) == 0) continue;
    throw Error(Exit::cannot_open, fmt::format("{}: cannot put in place: {}; choose another place with -o", file.target,
                                               std::strerror(errno)));
  }
  for (const File& file : files_) keep_on_signal(file.slot);
  files_.clear();
}

}  // namespace cli
