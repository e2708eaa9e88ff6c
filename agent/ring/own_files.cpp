#include "agent/ring/own_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "agent/base/host.h"
#include "agent/ring/run_folder.h"
#include "common/spool.h"

namespace agent {
namespace {

constexpr time_t kFresh_s = 3600;

// One opened file that is regular and of this user.
class OwnFile {
 public:
  OwnFile(int folder, const char* name) noexcept
      : file_(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) {
    if (file_ >= 0) ours_ = fstat(file_, &info_) == 0 && S_ISREG(info_.st_mode) && info_.st_uid == geteuid();
  }
  ~OwnFile() {
    if (file_ >= 0) close(file_);
  }
  OwnFile(const OwnFile&) = delete;
  OwnFile& operator=(const OwnFile&) = delete;

  bool ours() const { return ours_; }
  int descriptor() const { return file_; }
  bool is_older_than_s(time_t seconds) const { return time(nullptr) - info_.st_mtim.tv_sec > seconds; }
  bool is_empty() const { return info_.st_size == 0; }
  bool read(void* to, std::size_t bytes) const { return pread(file_, to, bytes, 0) == static_cast<ssize_t>(bytes); }

 private:
  int file_;
  bool ours_ = false;
  struct stat info_ {};
};

bool is_ring(const trace::FileHeader& header) {
  return std::memcmp(header.magic, trace::kMagic, sizeof(trace::kMagic)) == 0;
}

bool is_blank(const trace::FileHeader& header) {
  for (const char byte : header.magic) {
    if (byte != 0) return false;
  }
  return true;
}

bool is_of_this_boot(const trace::FileHeader& header) {
  char boot[40];
  boot_id(boot, sizeof(boot));
  return std::strncmp(boot, header.boot_id, sizeof(header.boot_id)) == 0;
}

// A copy has no lock. Its ring has one, where we can see it; elsewhere (another machine, another container's /tmp) a
// fresh copy means that somebody makes copies.
bool is_copy_in_use(const OwnFile& file, const trace::FileHeader& header) {
  if (header.closed_real_ns != 0) return false;
  if (!is_of_this_boot(header)) return !file.is_older_than_s(kFresh_s);
  char path[sizeof(header.local_path)];
  snprintf(path, sizeof(path), "%.*s", static_cast<int>(sizeof(path)) - 1, header.local_path);
  const OwnFile ring(AT_FDCWD, path);
  return ring.ours() ? is_locked(ring.descriptor()) : !file.is_older_than_s(kFresh_s);
}

// The magic is the last thing that a writer writes of a new file, after it took the lock. A file that stays without
// was left by a process that died in between.
bool is_ring_in_use(const OwnFile& file) {
  constexpr time_t kSurelyMade_s = 60;
  if (is_locked(file.descriptor())) return true;
  trace::FileHeader header{};
  if (!file.read(&header, sizeof(header)) || is_blank(header)) return !file.is_older_than_s(kSurelyMade_s);
  return is_ring(header) && header.copied_real_ns != 0 && is_copy_in_use(file, header);
}

// What never got its magic and never will: nothing was recorded in it.
bool is_unmade(const OwnFile& file) {
  trace::FileHeader header{};
  return file.read(&header, sizeof(header)) ? is_blank(header) : file.is_empty();
}

bool is_spool(const OwnFile& file) {
  char magic[sizeof(trace::kSpoolMagic)];
  if (!file.read(magic, sizeof(magic))) return file.is_empty();
  return std::memcmp(magic, trace::kSpoolMagic, sizeof(magic)) == 0;
}

using Name = char[NAME_MAX + 16];

// X of X.ring, X.spool and .X.ring.part, with `beginning` and `ending` around it.
void name_beside(const char* name, const char* beginning, const char* ending, Name& beside) {
  const char* stem = name[0] == '.' ? name + 1 : name;
  std::size_t length = std::strlen(stem);
  for (const char* own : {".ring.part", ".ring", ".spool"}) {
    if (!ends_with(stem, own)) continue;
    length -= std::strlen(own);
    break;
  }
  snprintf(beside, sizeof(beside), "%s%.*s%s", beginning, static_cast<int>(length), stem, ending);
}

bool has_ring(int folder, const char* name) {
  Name ring;
  name_beside(name, "", ".ring", ring);
  return faccessat(folder, ring, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

// A copier that was killed may have left a .part without magic.
int remove_beside_ring(int folder, const char* name) {
  const OwnFile file(folder, name);
  const bool known = file.ours() && (ends_with(name, ".part") || is_spool(file));
  return known && unlinkat(folder, name, 0) == 0;
}

}  // namespace

Listing::Listing(int folder, int most) noexcept : left_(most) {
  const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own >= 0) at_ = fdopendir(own);
  if (own >= 0 && at_ == nullptr) close(own);
}

Listing::~Listing() {
  if (at_ != nullptr) closedir(at_);
}

const char* Listing::next() noexcept {
  while (at_ != nullptr && left_-- > 0) {
    const dirent* entry = readdir(at_);
    whole_ = entry == nullptr;
    if (whole_) return nullptr;
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) return entry->d_name;
  }
  return nullptr;
}

bool ends_with(const char* text, const char* ending) noexcept {
  const std::size_t length = std::strlen(text), size = std::strlen(ending);
  return length > size && std::strcmp(text + length - size, ending) == 0;
}

bool starts_with(const char* text, const char* beginning) noexcept {
  return std::strncmp(text, beginning, std::strlen(beginning)) == 0;
}

bool has_own_name(const char* name) noexcept {
  if (name[0] == '.') return ends_with(name, ".ring.part");
  return ends_with(name, ".ring") || ends_with(name, ".spool");
}

bool read_ring_header(int folder, const char* name, trace::FileHeader& header) noexcept {
  const OwnFile file(folder, name);
  return file.ours() && file.read(&header, sizeof(header)) && is_ring(header);
}

bool is_ring_of(int folder, const char* name, const char* run) noexcept {
  trace::FileHeader header;
  if (!ends_with(name, ".ring") || name[0] == '.' || !read_ring_header(folder, name, header)) return false;
  header.run_id[sizeof(header.run_id) - 1] = '\0';
  return std::strcmp(header.run_id, run) == 0;
}

bool is_in_use(int folder, const char* name) noexcept {
  if (!has_own_name(name)) return false;
  const OwnFile file(folder, name);
  if (!file.ours()) return false;
  if (ends_with(name, ".ring")) return is_ring_in_use(file);
  return !file.is_older_than_s(kFresh_s) && !has_ring(folder, name);
}

int remove_ring_of(int folder, const char* name, const char* run) noexcept {
  if (!is_ring_of(folder, name, run) || is_in_use(folder, name)) return 0;
  Name beside;
  name_beside(name, "", ".spool", beside);
  int removed = remove_beside_ring(folder, beside);
  name_beside(name, ".", ".ring.part", beside);
  removed += remove_beside_ring(folder, beside);
  return removed + (unlinkat(folder, name, 0) == 0);
}

int remove_orphan(int folder, const char* name) noexcept {
  if (!has_own_name(name) || is_in_use(folder, name)) return 0;
  if (!ends_with(name, ".ring")) return !has_ring(folder, name) && remove_beside_ring(folder, name);
  const OwnFile file(folder, name);
  return file.ours() && is_unmade(file) && unlinkat(folder, name, 0) == 0;
}

}  // namespace agent
