#include "agent/ring/memory_room.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "agent/base/host.h"

namespace agent {
namespace {

struct Files {
  const char* base;
  const char* limit;
  const char* use;
};
constexpr Files kVersion2 = {"/sys/fs/cgroup", "memory.max", "memory.current"};
constexpr Files kVersion1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"};

// False where the file is not there or says "max".
bool read_number(const char* root, const char* base, const char* group, const char* name, std::uint64_t& value) {
  char path[1024], text[64];
  snprintf(path, sizeof(path), "%s%s%s/%s", root, base, group, name);
  const std::size_t length = read_small_file(path, text, sizeof(text));
  return length > 0 && std::from_chars(text, text + length, value).ec == std::errc();
}

// The group and every one above it. In a container the path may lead nowhere but at its end, the root that we see.
std::uint64_t room_of(const char* root, const Files& files, char* group) {
  std::uint64_t least = UINT64_MAX;
  for (;;) {
    std::uint64_t limit, use;
    if (read_number(root, files.base, group, files.limit, limit) &&
        read_number(root, files.base, group, files.use, use))
      least = std::min(least, limit > use ? limit - use : 0);
    char* slash = std::strrchr(group, '/');
    if (slash == nullptr) return least;
    *slash = '\0';
  }
}

// A line of /proc/self/cgroup is "0::/path" (version 2) or "N:memory:/path".
std::uint64_t room_of_line(const char* root, char* line) {
  char* controllers = std::strchr(line, ':');
  char* group = controllers != nullptr ? std::strchr(controllers + 1, ':') : nullptr;
  if (group == nullptr) return UINT64_MAX;
  *group++ = '\0';
  if (std::strcmp(group, "/") == 0) group[0] = '\0';
  if (controllers[1] == '\0') return room_of(root, kVersion2, group);
  return std::strcmp(controllers + 1, "memory") == 0 ? room_of(root, kVersion1, group) : UINT64_MAX;
}

}  // namespace

std::uint64_t memory_room(const char* root) noexcept {
  static constinit char path[1024], text[4096];
  snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
  read_small_file(path, text, sizeof(text));
  std::uint64_t least = UINT64_MAX;
  for (char *line = text, *end; (end = std::strchr(line, '\n')) != nullptr; line = end + 1) {
    *end = '\0';
    least = std::min(least, room_of_line(root, line));
  }
  return least;
}

}  // namespace agent
