#include "agent/ring/disk_cap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "agent/message.h"
#include "agent/ring/own_files.h"

namespace agent {
namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::size_t kMostRuns = 512;
constexpr int kMostRemoved = 512;

struct Run {
  char name[128];
  std::int64_t newest_ns;  // of its files
  std::uint64_t bytes;     // on disk
};

// The runs of a folder: memory of its own, for no more than a moment.
class Runs {
 public:
  Runs() noexcept {
    void* memory = mmap(nullptr, kMostRuns * sizeof(Run), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) runs_ = static_cast<Run*>(memory);
  }
  ~Runs() {
    if (runs_ != nullptr) munmap(runs_, kMostRuns * sizeof(Run));
  }
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

  // The run of this name, made if it is new. Null: too many, or too long a name to be one of ours.
  Run* find(const char* name) noexcept {
    if (runs_ == nullptr || std::strlen(name) >= sizeof(Run::name)) return nullptr;
    for (Run* run = runs_; run < runs_ + count_; ++run) {
      if (std::strcmp(run->name, name) == 0) return run;
    }
    if (count_ == kMostRuns) return nullptr;
    Run* run = runs_ + count_++;
    std::strcpy(run->name, name);
    return run;
  }
  // Takes the newest out; null: none is left.
  const Run* take_newest() noexcept {
    Run* newest = nullptr;
    for (Run* run = runs_; run < runs_ + count_; ++run) {
      if (run->newest_ns >= 0 && (newest == nullptr || run->newest_ns > newest->newest_ns)) newest = run;
    }
    if (newest != nullptr) newest->newest_ns = -1;
    return newest;
  }

 private:
  Run* runs_ = nullptr;
  std::size_t count_ = 0;
};

void add_file(int folder, const char* name, Run& run) {
  struct stat info;
  if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) return;
  run.bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
  const std::int64_t changed_ns = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  if (changed_ns > run.newest_ns) run.newest_ns = changed_ns;
}

// Sums up a folder if it holds files of ours. False: it is none.
bool add_run(int dir, const char* name, Runs& runs) {
  const int folder = openat(dir, name, kFolder);
  if (folder < 0) return false;
  Listing listing(folder);
  Run* run = nullptr;
  while (const char* file = listing.next()) {
    if (!has_own_name(file)) continue;
    if (run == nullptr && (run = runs.find(name)) == nullptr) break;
    add_file(folder, file, *run);
  }
  close(folder);
  return true;
}

// Rings first: a spool is free when its ring is gone.
int remove_run(int dir, const char* name, int most) {
  const int folder = openat(dir, name, kFolder);
  if (folder < 0) return 0;
  int removed = 0;
  for (const bool rings : {true, false}) {
    Listing listing(folder);
    while (const char* file = removed < most ? listing.next() : nullptr) {
      if (ends_with(file, ".ring") == rings) removed += remove_own_file(folder, file);
    }
  }
  close(folder);
  unlinkat(dir, name, AT_REMOVEDIR);  // not where anything else is in it
  return removed;
}

void remove_beyond(int dir, Runs& runs, const char* current_run, const DiskLimits& limits) {
  std::uint64_t kept = 1, bytes = 0;
  if (const Run* current = runs.find(current_run)) bytes = current->bytes;
  int removed = 0;
  while (const Run* run = removed < kMostRemoved ? runs.take_newest() : nullptr) {
    if (std::strcmp(run->name, current_run) == 0) continue;
    bytes += run->bytes;
    const bool too_many = limits.keep_runs != 0 && ++kept > limits.keep_runs;
    const bool too_large = limits.max_bytes != 0 && bytes > limits.max_bytes;
    if (too_many || too_large) removed += remove_run(dir, run->name, kMostRemoved - removed);
  }
  if (removed > 0) say_verbose("removed %d files of earlier runs", removed);
}

}  // namespace

void remove_old_runs(int run_folder, const char* current_run, const DiskLimits& limits) noexcept {
  const int dir = openat(run_folder, "..", kFolder);
  if (dir < 0) return;
  Runs runs;
  Listing listing(dir);
  int looked = 0;
  while (const char* name = looked < limits.most_folders ? listing.next() : nullptr) {
    if (name[0] != '.') looked += add_run(dir, name, runs);
  }
  remove_beyond(dir, runs, current_run, limits);
  close(dir);
}

bool has_many_runs(int run_folder, const DiskLimits& limits) noexcept {
  constexpr std::uint64_t kBehind = 16;
  const int dir = openat(run_folder, "..", kFolder);
  if (dir < 0 || limits.keep_runs == 0) {
    if (dir >= 0) close(dir);
    return false;
  }
  std::uint64_t count = 0;
  Listing listing(dir);
  while (listing.next() != nullptr) ++count;
  close(dir);
  return count > limits.keep_runs + kBehind;
}

void remove_old_local_rings(const char* place, const char* current_run) noexcept {
  const int folder = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  Runs runs;
  const auto for_each_ring = [&](const auto& visit) {
    Listing listing(folder);
    trace::FileHeader header;
    while (const char* name = listing.next()) {
      if (!starts_with(name, kLocalPrefix) || !read_ring_header(folder, name, header)) continue;
      header.run_id[sizeof(header.run_id) - 1] = '\0';
      visit(name, header.run_id);
    }
  };
  for_each_ring([&](const char* name, const char* run) {
    if (Run* known = runs.find(run)) add_file(folder, name, *known);
  });
  const Run* before = runs.take_newest();
  if (before != nullptr && std::strcmp(before->name, current_run) == 0) before = runs.take_newest();
  for_each_ring([&](const char* name, const char* run) {
    const bool stays = std::strcmp(run, current_run) == 0 || (before != nullptr && std::strcmp(run, before->name) == 0);
    if (!stays) remove_own_file(folder, name);
  });
  close(folder);
}

}  // namespace agent
