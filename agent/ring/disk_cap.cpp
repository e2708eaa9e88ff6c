#include "agent/ring/disk_cap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "agent/base/message.h"
#include "agent/ring/own_files.h"

namespace agent {
namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::size_t kMostRuns = 512;
constexpr int kMostRemoved = 512;
constexpr int kMostNamesOfRun = 65'536;

struct Run {
  char name[128];
  std::int64_t newest_ns;  // of its files
  std::uint64_t bytes;     // on disk
  bool in_use;             // known for local rings only
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

// Sums up a folder if it is a run's: one of its first rings says so. What somebody copied to a folder of another name
// is theirs: not removed, not counted. False: no folder.
bool add_run(int dir, const char* name, const char* current_run, Runs& runs) {
  constexpr int kMostAsked = 16;
  const int folder = openat(dir, name, kFolder);
  if (folder < 0) return false;
  Listing listing(folder);
  Run sum{};
  bool is_run = std::strcmp(name, current_run) == 0;
  int asked = 0;
  while (const char* file = listing.next()) {
    if (!has_own_name(file)) continue;
    if (!is_run && ends_with(file, ".ring") && asked++ < kMostAsked) is_run = is_ring_of(folder, file, name);
    add_file(folder, file, sum);
  }
  close(folder);
  if (Run* run = is_run ? runs.find(name) : nullptr) {
    run->newest_ns = sum.newest_ns;
    run->bytes = sum.bytes;
  }
  return true;
}

// Of a run in which any rank may still record, the others' files stay too. What was not seen whole is not known.
bool is_over(int folder) {
  Listing listing(folder, kMostNamesOfRun);
  while (const char* file = listing.next()) {
    if (is_in_use(folder, file)) return false;
  }
  return listing.is_whole();
}

// Rings last: they prove that the folder is a run's, to the next process too if this one is killed in between.
int remove_files(int folder, const char* run, int most) {
  int removed = 0;
  for (const bool rings : {false, true}) {
    Listing listing(folder, kMostNamesOfRun);
    while (const char* file = removed < most ? listing.next() : nullptr) {
      removed += rings ? remove_ring_of(folder, file, run) : remove_orphan(folder, file);
    }
  }
  return removed;
}

int remove_run(int dir, const char* name, int most) {
  const int folder = openat(dir, name, kFolder);
  if (folder < 0) return 0;
  const int removed = is_over(folder) ? remove_files(folder, name, most) : 0;
  close(folder);
  if (removed > 0) unlinkat(dir, name, AT_REMOVEDIR);  // not where anything else is in it
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
    if (name[0] != '.') looked += add_run(dir, name, current_run, runs);
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
    Run* known = runs.find(run);
    if (known == nullptr) return;
    add_file(folder, name, *known);
    known->in_use = known->in_use || is_in_use(folder, name);
  });
  const Run* before = runs.take_newest();
  if (before != nullptr && std::strcmp(before->name, current_run) == 0) before = runs.take_newest();
  for_each_ring([&](const char* name, const char* run) {
    const Run* known = runs.find(run);
    const bool stays = known == nullptr || known == before || known->in_use || std::strcmp(run, current_run) == 0;
    if (!stays) remove_ring_of(folder, name, run);
  });
  close(folder);
}

}  // namespace agent
