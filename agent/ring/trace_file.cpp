#include "agent/ring/trace_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "agent/base/agent_settings.h"
#include "agent/base/host.h"
#include "agent/base/message.h"
#include "agent/clocks/clocks.h"
#include "agent/ring/recorder.h"
#include "agent/ring/ring_location.h"
#include "common/memory.h"
#include "common/ring_division.h"

#ifndef TRACETOOL_VERSION
#define TRACETOOL_VERSION "unknown"
#endif

namespace agent {
namespace {

struct Launcher {
  const char* rank;
  const char* local_rank;
  const char* world_size;
};

// The largest world size seen: the rank in a communicator of some of the ranks does not identify the process.
constinit std::atomic<std::int32_t> s_world_size{-1};

constexpr Launcher kLaunchers[] = {
    {"RANK", "LOCAL_RANK", "WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"},
    {"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"},
};

trace::IdentityRecord unknown_identity(trace::IdentitySource source) {
  auto record = trace::make_record<trace::IdentityRecord>();
  record.source = static_cast<std::uint8_t>(source);
  record.rank = record.local_rank = record.world_size = record.device = -1;
  record.time_mono_ns = mono_ns();
  return record;
}

void write_identity(const trace::IdentityRecord& record) {
  if (!define(record)) say("the definitions region of the recording is full: rank %d is not recorded", record.rank);
}

// A container may be started with RANK, and torchrun in it: its ranks then have a LOCAL_RANK, which torchrun has not.
bool is_of_recorded_rank(const Launcher& launcher) {
  return shares_with_ancestor(launcher.rank, is_recorded_in_run) &&
         (std::getenv(launcher.local_rank) == nullptr || shares_with_ancestor(launcher.local_rank, is_recorded_in_run));
}

constexpr char kNeeds[] = "the ring needs ext4, xfs, tmpfs or overlayfs, and no local directory has enough space";

constinit RunFile s_run{};
constinit char s_path[PATH_MAX] = "";  // of the file in the run's directory
constinit char s_other_path[PATH_MAX] = "";
constinit OwnDescriptor s_file{};
constinit bool s_made_run_directory = false;

void remove_ring() {
  if (!s_file.held()) return;
  if (s_run.local_path[0] != '\0') {
    unlink(s_run.local_path);
  } else {
    unlinkat(s_run.directory.get(), s_run.name, 0);
  }
  s_file.drop();
  s_run.local_path[0] = '\0';
}

bool give_up(const char* what) {
  say("%s: %s (%s): this process is not recorded; set TRACETOOL_DIR to a local directory with enough space", s_path,
      what, std::strerror(errno));
  remove_ring();
  s_run.directory.drop();
  char* slash = std::strrchr(s_path, '/');
  if (s_made_run_directory && slash != nullptr) {
    *slash = '\0';
    rmdir(s_path);  // the run's directory, if no other process of the run uses it
  }
  return false;
}

template <std::size_t size>
void name_file(char (&name)[size], int pid, int number) {
  char host[64], boot[40], again[16] = "";
  host_name(host, sizeof(host));
  boot_id(boot, sizeof(boot));
  if (number > 0) snprintf(again, sizeof(again), "-%d", number);
  snprintf(name, size, "%s-%.8s-%d-%llu%s.ring", host, boot, pid,
           static_cast<unsigned long long>(process_start_ticks(pid)), again);
}

// A program that replaces itself by exec(2) keeps its pid and its start time, so its second file gets a number.
int make_numbered_file(int directory) {
  int file = -1;
  for (int number = 0; file < 0 && number < 16; ++number) {
    name_file(s_run.name, getpid(), number);
    file = make_own_file(directory, s_run.name);
    if (file < 0 && errno != EEXIST) break;
  }
  return file;
}

// A name that other ranks of this user derive, too.
void name_own_run() {
  char end[16];
  snprintf(end, sizeof(end), "-u%u", geteuid());
  run_id(s_run.run, sizeof(s_run.run) - std::strlen(end));
  std::strcat(s_run.run, end);
}

// Returns false, like give_up().
bool open_directory(const char* dir) {
  static constinit bool s_said = false;
  run_id(s_run.run, sizeof(s_run.run));
  OpenedRun opened = open_run_directory(dir, s_run.run, s_path, sizeof(s_path));
  if (opened.unfit != nullptr) {
    name_own_run();
    const OpenedRun other = open_run_directory(dir, s_run.run, s_other_path, sizeof(s_other_path));
    if (other.unfit != nullptr || other.directory < 0) {
      say("%s %s: this process is not recorded; remove it, or set TRACETOOL_DIR to your own directory", s_path,
          opened.unfit);
      return false;
    }
    if (!s_said) say("%s %s: this process is recorded in %s", s_path, opened.unfit, s_other_path);
    s_said = true;
    std::strcpy(s_path, s_other_path);
    opened = other;
  }
  s_made_run_directory = opened.made;
  return s_run.directory.take(opened.directory) || give_up("cannot create the directory");
}

// A rank of another run may remove the directory before it contains a file (disk_cap.h).
bool open_file(const char* dir) {
  for (int tries = 0; tries < 3; ++tries) {
    if (!open_directory(dir)) return false;
    if (s_file.take(make_numbered_file(s_run.directory.get())) || errno != ENOENT) break;
    s_run.directory.drop();
  }
  const std::size_t used = std::strlen(s_path);
  snprintf(s_path + used, sizeof(s_path) - used, "/%s", s_run.name);
  return s_file.held() || give_up("cannot create the file");
}

// This run has priority over disk space that earlier runs use.
bool reserve(std::uint64_t bytes) {
  if (reserve_space(s_file.get(), bytes)) return true;
  if (errno != ENOSPC && errno != EDQUOT) return false;
  remove_old_runs(s_run.directory.get(), s_run.run, disk_limits());
  return reserve_space(s_file.get(), bytes);
}

void remove_piled_up_runs() {
  DiskLimits limits = disk_limits();
  limits.most_directories = 64;  // about a millisecond
  const int directory = s_run.directory.get();
  if (has_many_runs(directory, limits)) remove_old_runs(directory, s_run.run, limits);
}

bool make_local_file(const char* path, std::uint64_t bytes) {
  char name[sizeof(s_run.run) + sizeof(s_run.name) + 16];
  snprintf(name, sizeof(name), "%s%s-%s", kLocalPrefix, s_run.run, s_run.name);
  const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return false;
  const bool fits = ring_fits(directory, bytes) == Fit::good && has_room(directory, bytes);
  const bool made = fits && s_file.take(make_own_file(directory, name));
  close(directory);
  if (!made) return false;
  const int length = snprintf(s_run.local_path, sizeof(s_run.local_path), "%s/%s", path, name);
  if (length < static_cast<int>(sizeof(s_run.local_path)) && reserve_space(s_file.get(), bytes)) return true;
  remove_ring();
  return false;
}

// Selects the first suitable location. Prints it, because the ring stays there if this process is killed.
bool move_to_local_storage(std::uint64_t bytes, const char* why) {
  remove_ring();
  for (int i = 0; const char* path = local_directory(i); ++i) {
    if (!make_local_file(path, bytes)) continue;
    say("%s: %s: the ring is in %s and is copied here periodically and at exit", s_path, why, s_run.local_path);
    return true;
  }
  errno = EOPNOTSUPP;
  return give_up(kNeeds);
}

bool find_room(std::uint64_t bytes) {
  const Fit fit = ring_fits(s_file.get(), bytes);
  if (fit == Fit::wrong_filesystem) return move_to_local_storage(bytes, "a network or copy-on-write filesystem");
  if (fit == Fit::no_memory) return move_to_local_storage(bytes, "the container has too little memory left");
  if (reserve(bytes)) return true;
  if (errno == EOPNOTSUPP) return move_to_local_storage(bytes, "a filesystem without fallocate");
  return give_up("cannot reserve the space");
}

// Fills in a zeroed header. The magic is stored last, so a file without it is incomplete.
void write_ring_header(trace::FileHeader& header, std::uint64_t ring_bytes, const char* run, const char* local_path) {
  trace::divide_ring(header, ring_bytes);
  header.version = trace::kFormatVersion;
  header.header_bytes = trace::kHeaderBytes;
  header.block_header_bytes = sizeof(trace::BlockHeader);
  header.pid = static_cast<std::uint32_t>(getpid());
  header.process_start_ticks = process_start_ticks(getpid());
  host_name(header.host, sizeof(header.host));
  boot_id(header.boot_id, sizeof(header.boot_id));
  snprintf(header.run_id, sizeof(header.run_id), "%s", run);
  program_name(header.program, sizeof(header.program));
  snprintf(header.agent_version, sizeof(header.agent_version), "%s", TRACETOOL_VERSION);
  snprintf(header.local_path, sizeof(header.local_path), "%s", local_path);
  header.created_clock = sample_clocks();
  header.created_real_ns = header.created_clock.real_ns;
  header.heartbeat_real_ns = header.created_real_ns;
  std::uint64_t magic;
  std::memcpy(&magic, trace::kMagic, sizeof(magic));
  trace::SharedMemory::store_release(*reinterpret_cast<std::uint64_t*>(header.magic), magic);
}

}  // namespace

void record_environment_identity() noexcept {
  for (const Launcher& launcher : kLaunchers) {
    auto record = unknown_identity(trace::IdentitySource::environment);
    if (!env_number(launcher.rank, record.rank)) continue;
    if (is_of_recorded_rank(launcher)) return;
    env_number(launcher.local_rank, record.local_rank);
    env_number(launcher.world_size, record.world_size);
    s_world_size.store(record.world_size);
    write_identity(record);
    return;
  }
}

void record_nccl_identity(std::uint64_t communicator, std::int32_t rank, std::int32_t ranks,
                          std::int32_t device) noexcept {
  if (ranks < s_world_size.load()) return;
  s_world_size.store(ranks);
  auto record = unknown_identity(trace::IdentitySource::nccl_init);
  record.rank = rank;
  record.world_size = ranks;
  record.device = device;
  record.communicator = communicator;
  write_identity(record);
}

bool is_recorded_in_run(int pid) noexcept {
  char name[sizeof(s_run.name)];
  name_file(name, pid, 0);
  return faccessat(s_run.directory.get(), name, F_OK, 0) == 0;
}

DiskLimits disk_limits() noexcept { return {settings().keep_runs, settings().max_disk_bytes}; }

bool create_trace_file(const char* dir, std::uint64_t ring_bytes, trace::Ring& ring) noexcept {
  if (!open_file(dir)) return false;
  remove_piled_up_runs();
  trace::FileHeader sizes{};
  trace::divide_ring(sizes, ring_bytes);
  if (!find_room(sizes.file_bytes)) return false;
  if (!hold_lock(s_file.get())) return give_up("cannot lock the file");
  void* map = mmap(nullptr, sizes.file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s_file.get(), 0);
  if (map == MAP_FAILED) return give_up("cannot map the file");
  madvise(map, sizes.file_bytes, MADV_DONTFORK);
  ring.header = static_cast<trace::FileHeader*>(map);
  write_ring_header(*ring.header, ring_bytes, s_run.run, s_run.local_path);
  return true;
}

const char* trace_file_path() noexcept { return s_path; }
const RunFile& run_file() noexcept { return s_run; }

int run_directory() noexcept {
  if (s_run.directory.get() < 0 && s_path[0] == '/') {
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%.*s", static_cast<int>(std::strrchr(s_path, '/') - s_path), s_path);
    s_run.directory.take_again(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  return s_run.directory.get();
}

void drop_trace_file() noexcept {
  s_file.drop();
  s_run.directory.drop();
}

}  // namespace agent
