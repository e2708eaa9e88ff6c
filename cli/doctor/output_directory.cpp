#include "cli/doctor/output_directory.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/base/text.h"
#include "common/filesystems.h"
#include "common/settings.h"

namespace cli {
namespace {

namespace fs = std::filesystem;

void look_at_filesystem(OutputDirectory& directory) {
  struct statfs info;
  if (statfs(directory.existing.c_str(), &info) != 0) return;
  const auto type = static_cast<std::uint64_t>(info.f_type) & 0xffffffff;
  directory.filesystem = fmt::format("filesystem {:#x}", type);
  directory.free_bytes = static_cast<std::uint64_t>(info.f_bavail) * static_cast<std::uint64_t>(info.f_bsize);
  directory.takes_files = info.f_files == 0 || info.f_ffree > 0;
  if (const trace::Filesystem* known = trace::filesystem_of(type)) {
    directory.filesystem = known->name;
    directory.maps_in_place = known->maps_in_place;
  }
}

std::string where_it_is(const std::string& path, const OutputDirectory& directory) {
  return fmt::format("{}, {}, {} free", path, directory.filesystem, bytes_text(directory.free_bytes));
}

}  // namespace

OutputDirectory look_at(const std::string& path) {
  OutputDirectory directory;
  std::error_code error;
  fs::path at = fs::absolute(path, error).lexically_normal();
  while (!fs::exists(at, error) && at.has_parent_path() && at.parent_path() != at) at = at.parent_path();
  directory.existing = at.string();
  directory.is_directory = fs::is_directory(at, error);
  directory.writable = directory.is_directory && access(at.c_str(), W_OK | X_OK) == 0;
  look_at_filesystem(directory);
  return directory;
}

std::uint64_t file_size_limit() {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
}

std::uint64_t ring_bytes_wanted() {
  trace::Settings settings;
  const char* text = std::getenv("TRACETOOL_BUFFER");
  if (text != nullptr && !trace::find_setting("TRACETOOL_BUFFER")->set(settings, text)) return trace::Settings().ring_bytes;
  return settings.ring_bytes;
}

CheckResults check_output_directory(const std::string& path, std::uint64_t ring_bytes) {
  const OutputDirectory directory = look_at(path);
  if (!directory.is_directory) {
    return {fail("directory", fmt::format("{} is not a directory", directory.existing), "choose a directory with TRACETOOL_DIR or -o")};
  }
  if (!directory.writable) {
    return {fail("directory", fmt::format("you have no permission to write {}", directory.existing),
                 "set TRACETOOL_DIR (or record -o) to a directory that you can write to")};
  }
  CheckResults found;
  const std::string where = where_it_is(path, directory);
  if (directory.free_bytes < ring_bytes) {
    found.push_back(fail("directory", fmt::format("{}: a ring needs {}", where, bytes_text(ring_bytes)),
                         "free disk space, or reduce TRACETOOL_BUFFER"));
  } else if (!directory.takes_files) {
    found.push_back(fail("directory", fmt::format("{}, but no free inode: no file can be created", where), "delete files, or set TRACETOOL_DIR to another disk"));
  } else if (file_size_limit() < ring_bytes) {
    found.push_back(fail("directory", fmt::format("files are limited to {} (ulimit -f), but a ring needs {}", bytes_text(file_size_limit()), bytes_text(ring_bytes)),
                         "raise the limit, or reduce TRACETOOL_BUFFER"));
  } else if (!directory.maps_in_place) {
    found.push_back(warn("directory", fmt::format("{}: this file system cannot map a ring", where),
                         "set TRACETOOL_DIR to local storage (ext4, xfs, tmpfs)"));
  } else {
    found.push_back(ok("directory", fmt::format("{}; a ring needs {}", where, bytes_text(ring_bytes))));
  }
  return found;
}

CheckResults check_used_directory(const std::string& path, std::uint64_t ring_bytes, bool is_live) {
  const OutputDirectory directory = look_at(path);
  const std::string where = where_it_is(path, directory) + (directory.writable ? "" : ", not writable by this user");
  if (!is_live || directory.free_bytes >= ring_bytes) return {ok("directory", where)};
  return {warn("directory", fmt::format("{}: another ring needs {}", where, bytes_text(ring_bytes)),
               "running recordings have their space; free more before you start others or use a spool")};
}

}  // namespace cli
