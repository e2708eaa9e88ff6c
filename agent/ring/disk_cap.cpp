#include "agent/ring/disk_cap.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "agent/base/message.h"
#include "agent/ring/run_directory.h"
#include "common/spool_format.h"

namespace agent {
namespace {

constexpr int kMostNames = 4096, kMostNamesOfRun = 65'536, kMostRemoved = 512;
constexpr time_t kSurelyMade_s = 60, kFresh_s = 3600;
constexpr char kNoMagic[8] = {};

struct Run {
  decltype(trace::FileHeader::run_id) id;
  std::int64_t newest_ns;  // of its files
  std::uint64_t bytes;     // on disk
  bool in_use;             // known only for local rings
};

// Static, because the thread may have a very small stack. Used by one thread at a time: the one that begins the
// recording, later that of storage.cpp.
constinit trace::FileHeader s_header{};
constinit Run s_runs[512]{};
constinit std::size_t s_run_count = 0;
constinit std::atomic<std::uint64_t> s_removed_runs{0};

// Returns the run with this id, which is from a header, adding it if it is new. Returns null if there are too many.
Run* find_run(const char* id) {
  for (Run* run = s_runs; run < s_runs + s_run_count; ++run) {
    if (std::strcmp(run->id, id) == 0) return run;
  }
  if (s_run_count == std::size(s_runs)) return nullptr;
  Run* run = s_runs + s_run_count++;
  *run = {};
  std::strcpy(run->id, id);
  return run;
}

void sort_newest_first() {
  std::sort(s_runs, s_runs + s_run_count, [](const Run& a, const Run& b) { return a.newest_ns > b.newest_ns; });
}

bool is_ring_name(std::string_view name) { return !name.starts_with('.') && name.ends_with(".ring"); }

// Returns X for X.spool and .X.ring.part, which are next to X.ring; otherwise empty.
std::string_view stem_beside_ring(std::string_view name) {
  const bool is_copy = name.starts_with('.');
  const std::string_view ending = is_copy ? ".ring.part" : ".spool";
  if (!name.ends_with(ending)) return {};
  name.remove_suffix(ending.size());
  name.remove_prefix(is_copy);
  return name;
}

int open_directory(int parent, const char* name) {
  return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// Calls `visit` with each name, including . and .., at most `most` of them. Returns true if these were all and `visit`
// never returned false; false also for a `directory` of -1.
template <typename Visit>
bool for_each_name(int directory, int most, const Visit& visit) {
  const int own = open_directory(directory, ".");  // closedir() closes it
  DIR* listing = fdopendir(own);
  if (listing == nullptr) {
    close(own);
    return false;
  }
  const dirent* entry = nullptr;
  bool go_on = true;
  while (go_on && most-- > 0 && (entry = readdir(listing)) != nullptr) go_on = visit(entry->d_name);
  closedir(listing);
  return go_on && entry == nullptr;
}

// A regular file of this user, opened without following links or waiting.
class OwnFile {
 public:
  OwnFile(int directory, const char* name) noexcept
      : file_(openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) {
    is_ours_ = file_ >= 0 && fstat(file_, &info_) == 0 && S_ISREG(info_.st_mode) && info_.st_uid == geteuid();
  }
  ~OwnFile() { close(file_); }  // harmless for -1
  OwnFile(OwnFile&&) = delete;

  bool is_ours() const { return is_ours_; }
  bool is_fresh(time_t seconds) const { return time(nullptr) - info_.st_mtim.tv_sec <= seconds; }
  bool has_lock() const { return is_locked(file_); }

  // Reads into s_header: zeros if the file is shorter, or is not ours.
  void read_header() const {
    s_header = {};
    if (is_ours_ && pread(file_, &s_header, sizeof(s_header), 0) < 0) s_header = {};
    s_header.run_id[sizeof(s_header.run_id) - 1] = s_header.local_path[sizeof(s_header.local_path) - 1] = '\0';
  }

 private:
  int file_;
  bool is_ours_;
  struct stat info_ {};
};

bool has_magic(const char (&magic)[8]) { return std::memcmp(s_header.magic, magic, sizeof(magic)) == 0; }

// Returns true if it is the ring of any run; its header is in s_header then.
bool read_ring(int directory, const char* name) {
  OwnFile(directory, name).read_header();
  return has_magic(trace::kMagic);
}

enum class State { foreign, in_use, left };  // left: ours, of the requested run, and not in use

// A copy has no lock. Its ring has one if it is accessible; otherwise (another machine, another container's /tmp) a
// recent copy means that it is still being updated.
bool is_copy_in_use(const OwnFile& copy) {
  if (s_header.copied_real_ns == 0 || s_header.closed_real_ns != 0) return false;
  const OwnFile ring(AT_FDCWD, s_header.local_path);
  return ring.is_ours() ? ring.has_lock() : copy.is_fresh(kFresh_s);
}

// A writer writes the magic of a new file last, so nothing was recorded without it.
State state_of_ring(int directory, const char* name, const char* run) {
  const OwnFile file(directory, name);
  if (!file.is_ours()) return State::foreign;
  if (file.has_lock()) return State::in_use;
  file.read_header();
  if (has_magic(kNoMagic)) return file.is_fresh(kSurelyMade_s) ? State::in_use : State::left;
  if (!has_magic(trace::kMagic)) return State::foreign;
  if (is_copy_in_use(file)) return State::in_use;
  return std::strcmp(s_header.run_id, run) == 0 ? State::left : State::foreign;
}

// A spool or .part has the state of its ring. Without a ring, which may still be created, it is in use for an hour.
State state_of(int directory, const char* name, const char* run) {
  if (is_ring_name(name)) return state_of_ring(directory, name, run);
  const std::string_view stem = stem_beside_ring(name);
  if (stem.empty()) return State::foreign;  // not opened: a foreign file may be a device, or be watched
  const OwnFile file(directory, name);
  if (!file.is_ours()) return State::foreign;
  char ring[NAME_MAX + 16];
  snprintf(ring, sizeof(ring), "%.*s.ring", static_cast<int>(stem.size()), stem.data());
  if (faccessat(directory, ring, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT) {
    const State state = state_of_ring(directory, ring, run);
    if (state != State::left) return state;
  } else if (file.is_fresh(kFresh_s)) {
    return State::in_use;
  }
  file.read_header();
  return name[0] == '.' || has_magic(trace::kSpoolMagic) || has_magic(kNoMagic) ? State::left : State::foreign;
}

void add_file(int directory, const char* name, Run& run) {
  struct stat info;
  if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) return;
  run.bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
  run.newest_ns = std::max(run.newest_ns, std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec);
}

// Sums up a directory if one of its first rings shows that it is a run's. A directory that a user copied under another
// name is neither removed nor counted. Returns true if it is a directory.
bool add_run(int parent, const char* name, const char* current_run) {
  const int directory = open_directory(parent, name);
  if (directory < 0) return false;
  Run sum{};
  bool is_run = std::strcmp(name, current_run) == 0;
  int left = 16;  // number of rings to examine
  for_each_name(directory, kMostNames, [&](const char* file) {
    const bool is_ring = is_ring_name(file);
    if (is_ring && !is_run && left-- > 0)
      is_run = read_ring(directory, file) && std::strcmp(s_header.run_id, name) == 0;
    if (is_ring || !stem_beside_ring(file).empty()) add_file(directory, file, sum);
    return true;
  });
  close(directory);
  if (Run* run = is_run ? find_run(name) : nullptr) {
    run->newest_ns = sum.newest_ns;
    run->bytes = sum.bytes;
  }
  return true;
}

// Removes nothing if any rank may still record, or if not all files were examined. Rings are removed last, because they
// identify the directory as a run's, also for the next process if this one is killed meanwhile.
int remove_run(int parent, const char* run, int most) {
  const int directory = open_directory(parent, run);
  int removed = 0;
  const bool is_over = for_each_name(directory, kMostNamesOfRun,
                                     [&](const char* name) { return state_of(directory, name, run) != State::in_use; });
  for (const bool rings : {false, true}) {
    if (!is_over) break;
    for_each_name(directory, kMostNamesOfRun, [&](const char* name) {
      if (is_ring_name(name) == rings) removed += remove_own_file(directory, name, run);
      return removed < most;
    });
  }
  close(directory);
  if (removed > 0) unlinkat(parent, run, AT_REMOVEDIR);  // fails if it contains anything else
  return removed;
}

}  // namespace

bool remove_own_file(int directory, const char* name, const char* run) noexcept {
  return state_of(directory, name, run) == State::left && unlinkat(directory, name, 0) == 0;
}

void remove_old_runs(int run_directory, const char* current_run, const DiskLimits& limits) noexcept {
  const int parent = open_directory(run_directory, "..");
  if (parent < 0) return;
  s_run_count = 0;
  int left = limits.most_directories;
  for_each_name(parent, kMostNames, [&](const char* name) {
    left -= name[0] != '.' && add_run(parent, name, current_run);
    return left > 0;
  });
  const Run* current = find_run(current_run);
  std::uint64_t kept = 1, bytes = current != nullptr ? current->bytes : 0;
  sort_newest_first();
  int removed = 0;
  for (const Run* run = s_runs; run < s_runs + s_run_count && removed < kMostRemoved; ++run) {
    if (std::strcmp(run->id, current_run) == 0) continue;
    bytes += run->bytes;
    const bool too_many = limits.keep_runs != 0 && ++kept > limits.keep_runs;
    const bool too_large = limits.max_bytes != 0 && bytes > limits.max_bytes;
    const int files = too_many || too_large ? remove_run(parent, run->id, kMostRemoved - removed) : 0;
    removed += files;
    s_removed_runs.fetch_add(files > 0, std::memory_order_relaxed);
  }
  if (removed > 0) say_verbose("deleted %d files of earlier runs", removed);
  close(parent);
}

std::uint64_t removed_runs() noexcept { return s_removed_runs.load(std::memory_order_relaxed); }

bool has_many_runs(int run_directory, const DiskLimits& limits) noexcept {
  constexpr std::uint64_t kBehind = 16;
  const int parent = limits.keep_runs != 0 ? open_directory(run_directory, "..") : -1;
  std::uint64_t count = 0;
  for_each_name(parent, kMostNames, [&](const char*) { return ++count <= limits.keep_runs + kBehind; });
  close(parent);
  return count > limits.keep_runs + kBehind;
}

void remove_old_local_rings(const char* path, const char* current_run) noexcept {
  const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  s_run_count = 0;
  const auto for_each_ring = [&](const auto& visit) {
    for_each_name(directory, kMostNames, [&](const char* name) {
      if (std::strncmp(name, kLocalPrefix, std::strlen(kLocalPrefix)) != 0 || !is_ring_name(name)) return true;
      if (Run* run = read_ring(directory, name) ? find_run(s_header.run_id) : nullptr) visit(name, *run);
      return true;
    });
  };
  for_each_ring([&](const char* name, Run& run) {
    add_file(directory, name, run);
    run.in_use = run.in_use || state_of_ring(directory, name, run.id) == State::in_use;
  });
  sort_newest_first();
  const Run* before = s_runs + (std::strcmp(s_runs[0].id, current_run) == 0);
  for_each_ring([&](const char* name, const Run& run) {
    const bool stays = &run == before || run.in_use || std::strcmp(run.id, current_run) == 0;
    if (!stays) remove_own_file(directory, name, run.id);
  });
  close(directory);
}

}  // namespace agent
