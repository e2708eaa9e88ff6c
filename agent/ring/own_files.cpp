#include "agent/ring/own_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "agent/host.h"
#include "agent/ring/run_folder.h"
#include "common/spool.h"

namespace agent {
namespace {

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

// A copy has no lock. Its ring has one, where we can see it; elsewhere a fresh copy means that somebody makes copies.
bool is_copy_in_use(const OwnFile& file, const trace::FileHeader& header) {
  constexpr time_t kFresh_s = 3600;
  if (header.closed_real_ns != 0) return false;
  if (!is_of_this_boot(header)) return !file.is_older_than_s(kFresh_s);
  char path[sizeof(header.local_path)];
  snprintf(path, sizeof(path), "%.*s", static_cast<int>(sizeof(path)) - 1, header.local_path);
  const OwnFile ring(AT_FDCWD, path);
  return ring.ours() && is_locked(ring.descriptor());
}

// The magic is the last thing that a writer writes of a new file, after it took the lock. A file that stays without
// was left by a process that died in between.
bool is_free_ring(const OwnFile& file) {
  constexpr time_t kSurelyMade_s = 60;
  trace::FileHeader header{};
  if (!file.ours() || is_locked(file.descriptor())) return false;
  if (!file.read(&header, sizeof(header))) return file.is_empty() && file.is_older_than_s(kSurelyMade_s);
  if (is_blank(header)) return file.is_older_than_s(kSurelyMade_s);
  return is_ring(header) && (header.copied_real_ns == 0 || !is_copy_in_use(file, header));
}

bool is_free_spool(int folder, const char* name, const OwnFile& file) {
  char ring[NAME_MAX + 8], magic[sizeof(trace::kSpoolMagic)];
  snprintf(ring, sizeof(ring), "%.*s.ring", static_cast<int>(std::strlen(name) - std::strlen(".spool")), name);
  if (faccessat(folder, ring, F_OK, AT_SYMLINK_NOFOLLOW) == 0) return false;
  return file.ours() && file.read(magic, sizeof(magic)) && std::memcmp(magic, trace::kSpoolMagic, sizeof(magic)) == 0;
}

// What a copier that was killed left: it may have no magic yet.
bool is_free_part(const OwnFile& file) {
  constexpr time_t kSurelyLeft_s = 3600;
  return file.ours() && file.is_older_than_s(kSurelyLeft_s);
}

bool is_free(int folder, const char* name) {
  const OwnFile file(folder, name);
  if (ends_with(name, ".part")) return is_free_part(file);
  return ends_with(name, ".spool") ? is_free_spool(folder, name, file) : is_free_ring(file);
}

}  // namespace

Listing::Listing(int folder) noexcept {
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
    if (entry == nullptr) return nullptr;
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

bool remove_own_file(int folder, const char* name) noexcept {
  return has_own_name(name) && is_free(folder, name) && unlinkat(folder, name, 0) == 0;
}

}  // namespace agent
