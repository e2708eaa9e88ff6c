#include "cli/doctor/place.h"

#include <fmt/format.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/io/units.h"
#include "common/filesystems.h"
#include "common/settings.h"

namespace cli {
namespace {

namespace fs = std::filesystem;

void look_at_filesystem(Place& place) {
  struct statfs info;
  if (statfs(place.existing.c_str(), &info) != 0) return;
  const auto type = static_cast<std::uint64_t>(info.f_type) & 0xffffffff;
  place.filesystem = fmt::format("filesystem {:#x}", type);
  place.free_bytes = static_cast<std::uint64_t>(info.f_bavail) * static_cast<std::uint64_t>(info.f_bsize);
  if (const trace::Filesystem* known = trace::filesystem_of(type)) {
    place.filesystem = known->name;
    place.maps_in_place = known->maps_in_place;
  }
}

std::string where_it_is(const std::string& folder, const Place& place) {
  return fmt::format("{}, {}, {} free", folder, place.filesystem, bytes_text(place.free_bytes));
}

}  // namespace

Place look_at(const std::string& folder) {
  Place place;
  std::error_code error;
  fs::path at = fs::absolute(folder, error).lexically_normal();
  while (!fs::exists(at, error) && at.has_parent_path() && at.parent_path() != at) at = at.parent_path();
  place.existing = at.string();
  place.is_folder = fs::is_directory(at, error);
  place.writable = place.is_folder && access(at.c_str(), W_OK | X_OK) == 0;
  look_at_filesystem(place);
  return place;
}

std::uint64_t ring_bytes_wanted() {
  trace::Settings settings;
  const char* text = std::getenv("TRACETOOL_BUFFER");
  if (text != nullptr && !trace::find_setting("TRACETOOL_BUFFER")->set(settings, text)) return trace::Settings().ring_bytes;
  return settings.ring_bytes;
}

Findings check_place(const std::string& folder, std::uint64_t ring_bytes) {
  const Place place = look_at(folder);
  if (!place.is_folder) {
    return {fail("directory", fmt::format("{} is not a directory", place.existing), "name another with TRACETOOL_DIR or -o")};
  }
  if (!place.writable) {
    return {fail("directory", fmt::format("{} cannot be written by this user", place.existing),
                 "set TRACETOOL_DIR (or record -o) to a directory of yours")};
  }
  Findings found;
  const std::string where = where_it_is(folder, place);
  if (place.free_bytes < ring_bytes) {
    found.push_back(fail("directory", fmt::format("{}: a ring takes {}", where, bytes_text(ring_bytes)),
                         "make room, or set a smaller TRACETOOL_BUFFER"));
  } else if (!place.maps_in_place) {
    found.push_back(warn("directory", fmt::format("{}: a ring cannot be mapped there", where),
                         "point TRACETOOL_DIR at local storage (ext4, xfs, tmpfs)"));
  } else {
    found.push_back(ok("directory", fmt::format("{}; a ring takes {}", where, bytes_text(ring_bytes))));
  }
  return found;
}

Findings check_used_place(const std::string& folder, std::uint64_t ring_bytes, bool is_live) {
  const Place place = look_at(folder);
  const std::string where = where_it_is(folder, place) + (place.writable ? "" : ", not to be written by this user");
  if (!is_live || place.free_bytes >= ring_bytes) return {ok("directory", where)};
  return {warn("directory", fmt::format("{}: one more ring takes {}", where, bytes_text(ring_bytes)),
               "those that record have their room; make some before others begin, or a spool grows")};
}

}  // namespace cli
