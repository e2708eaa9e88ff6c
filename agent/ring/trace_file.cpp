#include "agent/ring/trace_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "agent/clocks.h"
#include "agent/host.h"
#include "agent/message.h"

#ifndef TRACETOOL_VERSION
#define TRACETOOL_VERSION "unknown"
#endif

namespace agent {
namespace {

constinit char s_path[4096] = "";
constinit int s_file = -1;

constinit bool s_made_run_folder = false;

// Filesystems that write a mapped page where it was reserved (statfs(2)): ext4, xfs, tmpfs, and overlayfs, on which
// containers run; what it lies on cannot be asked, and is one of the others as a rule. On network and copy-on-write
// ones a page can fail after it was reserved, and that is a SIGBUS in an application thread.
constexpr unsigned long kMapInPlace[] = {0xef53, 0x58465342, 0x01021994, 0x794c7630};

bool maps_in_place(int file) {
  struct statfs info;
  if (fstatfs(file, &info) != 0) return false;
  for (const unsigned long type : kMapInPlace) {
    if (static_cast<unsigned long>(info.f_type) == type) return true;
  }
  return false;
}

bool make_folders(char* path, const char* run) {
  for (char* slash = std::strchr(path + 1, '/'); slash != nullptr; slash = std::strchr(slash + 1, '/')) {
    *slash = '\0';
    const bool failed = mkdir(path, 0700) != 0 && errno != EEXIST;
    *slash = '/';
    if (failed) return false;
  }
  if (mkdir(path, 0700) != 0 && errno != EEXIST) return false;
  const std::size_t used = std::strlen(path);
  snprintf(path + used, sizeof(s_path) - used, "/%s", run);
  s_made_run_folder = mkdir(path, 0700) == 0;
  return s_made_run_folder || errno == EEXIST;
}

// Beyond RLIMIT_FSIZE fallocate(2) does not only fail: it raises SIGXFSZ, which kills.
bool reserve(int file, off_t bytes) {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      static_cast<rlim_t>(bytes) > limit.rlim_cur) {
    errno = EFBIG;
    return false;
  }
  return fallocate(file, 0, 0, bytes) == 0;
}

bool hold_lock(int file) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

bool give_up(const char* what) {
  say("%s: %s (%s): this process is not recorded; set TRACETOOL_DIR to a local folder with room", s_path, what,
      std::strerror(errno));
  if (s_file >= 0) {
    unlink(s_path);
    close(s_file);
    s_file = -1;
  }
  char* slash = std::strrchr(s_path, '/');
  if (s_made_run_folder && slash != nullptr) {
    *slash = '\0';
    rmdir(s_path);  // the run's folder, when nobody else of the run is in it
  }
  return false;
}

void write_header(trace::FileHeader& header, std::uint64_t ring_bytes, const char* run) {
  divide_ring(header, ring_bytes);
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
  header.created_clock = sample_clocks();
  header.created_real_ns = header.created_clock.real_ns;
  header.heartbeat_real_ns = header.created_real_ns;
  // The magic is last: a file without it was never finished.
  std::uint64_t magic;
  std::memcpy(&magic, trace::kMagic, sizeof(magic));
  trace::SharedMemory::store_release(*reinterpret_cast<std::uint64_t*>(header.magic), magic);
}

bool open_file(const char* dir, const char* run) {
  char host[64], boot[40];
  snprintf(s_path, sizeof(s_path), "%s", dir);
  if (!make_folders(s_path, run)) return give_up("cannot make the folder");
  host_name(host, sizeof(host));
  boot_id(boot, sizeof(boot));
  const std::size_t used = std::strlen(s_path);
  snprintf(s_path + used, sizeof(s_path) - used, "/%s-%.8s-%d-%llu.ring", host, boot, getpid(),
           static_cast<unsigned long long>(process_start_ticks(getpid())));
  s_file = open(s_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  return s_file >= 0 || give_up("cannot make the file");
}

}  // namespace

void divide_ring(trace::FileHeader& header, std::uint64_t ring_bytes) noexcept {
  std::uint64_t block = 4096;
  while (block < (64u << 10) && block * 512 <= ring_bytes) block *= 2;
  std::uint64_t definitions = ring_bytes / 16;
  if (definitions > (16u << 20)) definitions = 16u << 20;
  definitions = (definitions + 16384) / 4096 * 4096;
  header.definitions_offset = trace::kHeaderBytes;
  header.definitions_bytes = definitions;
  header.blocks_offset = header.definitions_offset + definitions;
  header.block_bytes = block;
  header.block_count = (ring_bytes - header.blocks_offset) / block;
  header.file_bytes = header.blocks_offset + header.block_count * block;
}

bool create_trace_file(const char* dir, std::uint64_t ring_bytes, trace::Ring& ring) noexcept {
  char run[64];
  run_id(run, sizeof(run));
  if (!open_file(dir, run)) return false;
  if (!maps_in_place(s_file)) {
    errno = EOPNOTSUPP;
    return give_up("the ring needs ext4, xfs, tmpfs or overlayfs, no network or copy-on-write filesystem");
  }
  trace::FileHeader sizes{};
  divide_ring(sizes, ring_bytes);
  if (!reserve(s_file, static_cast<off_t>(sizes.file_bytes))) return give_up("cannot reserve the space");
  if (!hold_lock(s_file)) return give_up("cannot lock the file");
  void* map = mmap(nullptr, sizes.file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s_file, 0);
  if (map == MAP_FAILED) return give_up("cannot map the file");
  madvise(map, sizes.file_bytes, MADV_DONTFORK);
  ring.header = static_cast<trace::FileHeader*>(map);
  write_header(*ring.header, ring_bytes, run);
  return true;
}

const char* trace_file_path() noexcept { return s_path; }

void drop_trace_file() noexcept {
  if (s_file >= 0) close(s_file);
  s_file = -1;
}

}  // namespace agent
