#include "agent/ring/disk_cap.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "agent/base/host.h"
#include "agent/base/message.h"
#include "agent/ring/run_directory.h"
#include "common/spool.h"

namespace agent {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int kMostNames = 4096, kMostNamesOfRun = 65'536, kMostRemoved = 512;
constexpr time_t kSurelyMade_s = 60, kFresh_s = 3600;

using Name = char[NAME_MAX + 16];
using RunId = decltype(trace::FileHeader::run_id);

bool ends_with(const char* text, const char* ending) {
  const std::size_t length = std::strlen(text), size = std::strlen(ending);
  return length > size && std::strcmp(text + length - size, ending) == 0;
}

// X.ring, X.spool or .X.ring.part: how our files are called.
bool is_ring_name(const char* name) { return name[0] != '.' && ends_with(name, ".ring"); }
bool is_copy_name(const char* name) { return name[0] == '.' && ends_with(name, ".ring.part"); }
bool is_own_name(const char* name) {
  return is_ring_name(name) || is_copy_name(name) || (name[0] != '.' && ends_with(name, ".spool"));
}

// X.ring, of X.spool and of .X.ring.part.
void ring_beside(const char* name, Name& ring) {
  const std::size_t ending = std::strlen(is_copy_name(name) ? ".ring.part" : ".spool");
  const char* stem = name + is_copy_name(name);
  snprintf(ring, sizeof(ring), "%.*s.ring", static_cast<int>(std::strlen(stem) - ending), stem);
}

// Calls `visit` with each name but . and .., `most` of them. Returns whether these were all, and none made it return false.
template <typename Visit>
bool for_each_name(int directory, int most, const Visit& visit) {
  const int own = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // closedir() closes it
  DIR* listing = own >= 0 ? fdopendir(own) : nullptr;
  if (listing == nullptr) {
    if (own >= 0) close(own);
    return false;
  }
  const dirent* entry = nullptr;
  bool go_on = true;
  while (go_on && most-- > 0 && (entry = readdir(listing)) != nullptr) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) go_on = visit(entry->d_name);
  }
  closedir(listing);
  return go_on && entry == nullptr;
}

// A file that is opened without following or waiting. What is asked of its header is read when it is asked for, because
// the thread may have next to no stack.
class OwnFile {
 public:
  OwnFile(int directory, const char* name) noexcept
      : file_(openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) {
    ours_ = file_ >= 0 && fstat(file_, &info_) == 0 && S_ISREG(info_.st_mode) && info_.st_uid == geteuid();
    if (ours_) read(magic_, 0);
  }
  ~OwnFile() {
    if (file_ >= 0) close(file_);
  }
  OwnFile(const OwnFile&) = delete;
  OwnFile& operator=(const OwnFile&) = delete;

  bool ours() const { return ours_; }  // regular, and of this user
  bool is_ring() const { return has_header() && begins_with(trace::kMagic); }
  bool is_spool() const { return info_.st_size == 0 || begins_with(trace::kSpoolMagic); }
  // Its writer died before the magic, which is the last thing that it writes of a new file: nothing was recorded.
  bool is_unmade() const { return info_.st_size == 0 || (has_header() && begins_with("\0\0\0\0\0\0\0")); }
  bool is_fresh(time_t seconds) const { return time(nullptr) - info_.st_mtim.tv_sec <= seconds; }
  bool is_locked_ring() const { return is_locked(file_); }

  bool read_run(RunId& run) const {
    run[0] = '\0';
    const bool read_all = is_ring() && read(run, offsetof(trace::FileHeader, run_id));
    run[sizeof(run) - 1] = '\0';
    return read_all;
  }
  bool is_ring_of(const char* wanted) const {
    RunId run;
    return read_run(run) && std::strcmp(run, wanted) == 0;
  }
  bool is_ring_in_use() const {
    if (is_locked_ring()) return true;
    if (!has_header() || is_unmade()) return is_fresh(kSurelyMade_s);
    std::uint64_t copied_ns = 0, closed_ns = 0;
    read(copied_ns, offsetof(trace::FileHeader, copied_real_ns));
    read(closed_ns, offsetof(trace::FileHeader, closed_real_ns));
    return is_ring() && copied_ns != 0 && closed_ns == 0 && is_copy_in_use();
  }

 private:
  template <typename T>
  bool read(T& to, std::size_t offset) const {
    return pread(file_, &to, sizeof(to), static_cast<off_t>(offset)) == static_cast<ssize_t>(sizeof(to));
  }
  bool has_header() const { return info_.st_size >= static_cast<off_t>(sizeof(trace::FileHeader)); }
  bool begins_with(const char (&magic)[8]) const { return std::memcmp(magic_, magic, sizeof(magic)) == 0; }

  // A copy has no lock. Its ring has one, where we can see it; elsewhere (another machine, another container's /tmp) a
  // fresh copy means that somebody makes copies.
  bool is_copy_in_use() const {
    decltype(trace::FileHeader::boot_id) boot, here;
    decltype(trace::FileHeader::local_path) path;
    boot_id(here, sizeof(here));
    if (!read(boot, offsetof(trace::FileHeader, boot_id)) || std::strncmp(boot, here, sizeof(boot)) != 0 ||
        !read(path, offsetof(trace::FileHeader, local_path))) {
      return is_fresh(kFresh_s);
    }
    path[sizeof(path) - 1] = '\0';
    const OwnFile ring(AT_FDCWD, path);
    return ring.ours() ? ring.is_locked_ring() : is_fresh(kFresh_s);
  }

  int file_;
  bool ours_;
  char magic_[8] = {};
  struct stat info_ {};
};

bool has_ring(int directory, const char* ring) {
  return faccessat(directory, ring, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

// Whether somebody may be writing it: its lock is held, or it cannot be told and it changed within the last hour. A spool
// and a .part are as their ring; without it, in use for an hour.
bool is_in_use(int directory, const char* name) {
  const OwnFile file(directory, name);
  if (!is_own_name(name) || !file.ours()) return false;
  if (is_ring_name(name)) return file.is_ring_in_use();
  Name ring;
  ring_beside(name, ring);
  return file.is_fresh(kFresh_s) && !has_ring(directory, ring);
}

bool is_of_run(int directory, const char* name, const char* run) {
  if (is_ring_name(name)) {
    const OwnFile file(directory, name);
    return file.ours() && (file.is_unmade() || file.is_ring_of(run));
  }
  Name ring;
  ring_beside(name, ring);
  if (has_ring(directory, ring) && (is_in_use(directory, ring) || !is_of_run(directory, ring, run))) return false;
  const OwnFile file(directory, name);
  return file.ours() && (is_copy_name(name) || file.is_spool());
}

struct Run {
  RunId name;
  std::int64_t newest_ns;  // of its files; -1: was taken out
  std::uint64_t bytes;     // on disk
  bool in_use;             // known for local rings only
};

// The runs of a directory. One thread at a time uses them: the one that begins the recording, later that of storage.cpp.
class Runs {
 public:
  Runs() noexcept { s_count = 0; }

  // The run of this name, made if it is new. Null: too many, or too long a name to be one of ours.
  Run* find(const char* name) noexcept {
    if (std::strlen(name) >= sizeof(Run::name)) return nullptr;
    for (Run* run = s_runs; run < s_runs + s_count; ++run) {
      if (std::strcmp(run->name, name) == 0) return run;
    }
    if (s_count == kMost) return nullptr;
    Run* run = s_runs + s_count++;
    *run = {};
    std::strcpy(run->name, name);
    return run;
  }
  // Takes the newest out; null: none is left.
  const Run* take_newest() noexcept {
    Run* newest = nullptr;
    for (Run* run = s_runs; run < s_runs + s_count; ++run) {
      if (run->newest_ns >= 0 && (newest == nullptr || run->newest_ns > newest->newest_ns)) newest = run;
    }
    if (newest != nullptr) newest->newest_ns = -1;
    return newest;
  }

 private:
  static constexpr std::size_t kMost = 512;
  static constinit Run s_runs[kMost];
  static constinit std::size_t s_count;
};
constinit Run Runs::s_runs[kMost]{};
constinit std::size_t Runs::s_count = 0;

void add_file(int directory, const char* name, Run& run) {
  struct stat info;
  if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) return;
  run.bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
  const std::int64_t changed_ns = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  if (changed_ns > run.newest_ns) run.newest_ns = changed_ns;
}

// Sums up a directory if it is a run's: one of its first rings says so. What somebody copied to a directory of another
// name is theirs: not removed, not counted. Returns whether it is a directory.
bool add_run(int parent, const char* name, const char* current_run, Runs& runs) {
  const int directory = openat(parent, name, kDirectory);
  if (directory < 0) return false;
  Run sum{};
  bool is_run = std::strcmp(name, current_run) == 0;
  int left = 16;  // rings to ask
  for_each_name(directory, kMostNames, [&](const char* file) {
    if (!is_own_name(file)) return true;
    if (!is_run && is_ring_name(file) && left-- > 0) {
      const OwnFile ring(directory, file);
      is_run = ring.ours() && ring.is_ring_of(name);
    }
    add_file(directory, file, sum);
    return true;
  });
  close(directory);
  if (Run* run = is_run ? runs.find(name) : nullptr) {
    run->newest_ns = sum.newest_ns;
    run->bytes = sum.bytes;
  }
  return true;
}

// Of a run in which any rank may still record, the others' files stay too; and what was not seen whole is not known.
// Rings go last: they prove that the directory is a run's, to the next process too if this one is killed in between.
int remove_run(int parent, const char* run, int most) {
  const int directory = openat(parent, run, kDirectory);
  if (directory < 0) return 0;
  int removed = 0;
  const bool is_over = for_each_name(directory, kMostNamesOfRun, [&](const char* name) { return !is_in_use(directory, name); });
  for (const bool rings : {false, true}) {
    if (!is_over) break;
    for_each_name(directory, kMostNamesOfRun, [&](const char* name) {
      if (is_ring_name(name) == rings) removed += remove_own_file(directory, name, run);
      return removed < most;
    });
  }
  close(directory);
  if (removed > 0) unlinkat(parent, run, AT_REMOVEDIR);  // not where anything else is in it
  return removed;
}

void remove_beyond(int parent, Runs& runs, const char* current_run, const DiskLimits& limits) {
  std::uint64_t kept = 1, bytes = 0;
  if (const Run* current = runs.find(current_run)) bytes = current->bytes;
  int removed = 0;
  while (const Run* run = removed < kMostRemoved ? runs.take_newest() : nullptr) {
    if (std::strcmp(run->name, current_run) == 0) continue;
    bytes += run->bytes;
    const bool too_many = limits.keep_runs != 0 && ++kept > limits.keep_runs;
    const bool too_large = limits.max_bytes != 0 && bytes > limits.max_bytes;
    if (too_many || too_large) removed += remove_run(parent, run->name, kMostRemoved - removed);
  }
  if (removed > 0) say_verbose("removed %d files of earlier runs", removed);
}

}  // namespace

bool remove_own_file(int directory, const char* name, const char* run) noexcept {
  return is_own_name(name) && !is_in_use(directory, name) && is_of_run(directory, name, run) &&
         unlinkat(directory, name, 0) == 0;
}

void remove_old_runs(int run_directory, const char* current_run, const DiskLimits& limits) noexcept {
  const int parent = openat(run_directory, "..", kDirectory);
  if (parent < 0) return;
  Runs runs;
  int left = limits.most_directories;
  for_each_name(parent, kMostNames, [&](const char* name) {
    left -= name[0] != '.' && add_run(parent, name, current_run, runs);
    return left > 0;
  });
  remove_beyond(parent, runs, current_run, limits);
  close(parent);
}

bool has_many_runs(int run_directory, const DiskLimits& limits) noexcept {
  constexpr std::uint64_t kBehind = 16;
  const int parent = limits.keep_runs != 0 ? openat(run_directory, "..", kDirectory) : -1;
  if (parent < 0) return false;
  std::uint64_t count = 0;
  for_each_name(parent, kMostNames, [&](const char*) { return ++count <= limits.keep_runs + kBehind; });
  close(parent);
  return count > limits.keep_runs + kBehind;
}

void remove_old_local_rings(const char* path, const char* current_run) noexcept {
  const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  Runs runs;
  const auto for_each_ring = [&](const auto& visit) {
    for_each_name(directory, kMostNames, [&](const char* name) {
      if (std::strncmp(name, kLocalPrefix, std::strlen(kLocalPrefix)) != 0 || !is_ring_name(name)) return true;
      const OwnFile ring(directory, name);
      RunId id;
      if (Run* run = ring.ours() && ring.read_run(id) ? runs.find(id) : nullptr) visit(name, *run);
      return true;
    });
  };
  for_each_ring([&](const char* name, Run& run) {
    add_file(directory, name, run);
    run.in_use = run.in_use || is_in_use(directory, name);
  });
  const Run* before = runs.take_newest();
  if (before != nullptr && std::strcmp(before->name, current_run) == 0) before = runs.take_newest();
  for_each_ring([&](const char* name, const Run& run) {
    const bool stays = &run == before || run.in_use || std::strcmp(run.name, current_run) == 0;
    if (!stays) remove_own_file(directory, name, run.name);
  });
  close(directory);
}

}  // namespace agent
