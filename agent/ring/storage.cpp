#include "agent/ring/storage.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "agent/base/agent_settings.h"
#include "agent/base/host.h"
#include "agent/base/message.h"
#include "agent/clocks/clocks.h"
#include "agent/ring/disk_cap.h"
#include "agent/ring/recorder.h"
#include "agent/ring/ring_location.h"
#include "agent/ring/trace_file.h"
#include "agent/ring/worker.h"

namespace agent {
namespace {

struct Files {
  const char* base;
  const char* limit;
  const char* use;
};
constexpr Files kVersion2 = {"/sys/fs/cgroup", "memory.max", "memory.current"};
constexpr Files kVersion1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"};

// Returns false if the file does not exist or contains "max".
bool read_number(const char* root, const char* base, const char* group, const char* name, std::uint64_t& value) {
  char path[1024], text[64];
  snprintf(path, sizeof(path), "%s%s%s/%s", root, base, group, name);
  const std::size_t length = read_small_file(path, text, sizeof(text));
  return length > 0 && std::from_chars(text, text + length, value).ec == std::errc();
}

// The group and all its parents. In a container only the end of the path may exist, the visible root.
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

constinit Worker s_worker{};
constinit Worker s_last_copy{};
constinit std::atomic<bool> s_spool_begun{false};
constinit std::atomic<bool> s_last_copy_made{false};
constinit std::atomic<int> s_copy_error{0};
constinit std::uint32_t s_own_tid = 0;  // the agent's flushing thread
constinit bool s_hangs = false;         // the disk's thread did not end

bool is_copied() { return run_file().local_path[0] != '\0'; }

void begin_spool() {
  if (!settings().spool) return;
  char name[256];
  const RunFile& file = run_file();
  const std::size_t stem = std::strlen(file.name) - std::strlen(".ring");
  snprintf(name, sizeof(name), "%.*s.spool", static_cast<int>(stem), file.name);
  start_spool(ring(), run_directory(), name, settings().max_disk_bytes);
}

void make_room() {
  remove_old_runs(run_directory(), run_file().run, disk_limits());
  trace::SharedMemory::store(ring().header->removed_runs, removed_runs());
  if (!is_copied()) return;
  for (int i = 0; const char* path = local_directory(i); ++i) remove_old_local_rings(path, run_file().run);
}

void copy_once() {
  static constinit bool s_said = false;
  if (copy_ring(ring(), run_directory(), run_file().name, &s_worker) || errno == ECANCELED || s_said) return;
  s_said = true;
  say("cannot copy the ring to %s (%s); it is in %s", trace_file_path(), std::strerror(errno), run_file().local_path);
}

// A copy is the whole ring, and the directory may be on a network filesystem: at most 2 MB/s on average.
double rest_ms() {
  constexpr double kBytesPerMs = 2000;
  constexpr double kLeast_ms = 3000;
  const trace::FileHeader& header = *ring().header;
  const std::uint64_t used = std::min(trace::SharedMemory::load(header.claimed_blocks), header.block_count);
  return std::max(kLeast_ms, static_cast<double>(used * header.block_bytes) / kBytesPerMs);
}

// After something was recorded; otherwise every ten minutes, to update the heartbeat.
void copy_now_and_then() {
  constexpr std::uint64_t kIdle_ns = 600'000'000'000;
  std::uint64_t last = 0, last_ns = 0;
  do {
    const std::uint64_t now = ring_fingerprint(ring(), s_own_tid);
    if (now == last && mono_ns() - last_ns < kIdle_ns) continue;
    copy_once();
    last = now;
    last_ns = mono_ns();
  } while (s_worker.wait_ms(rest_ms()));
}

void run() {
  begin_spool();
  s_spool_begun.store(true, std::memory_order_release);
  make_room();
  if (is_copied()) copy_now_and_then();
}

void make_last_copy() {
  const bool made = copy_ring(ring(), run_directory(), run_file().name, nullptr);
  s_copy_error.store(made ? 0 : errno);
  s_last_copy_made.store(made, std::memory_order_release);
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

void keep_storage() noexcept {
  static constinit bool s_once = false;
  if (s_once || recording() != Recording::open) return;
  s_once = true;
  s_own_tid = thread_id();
  if (!s_worker.start("tracetool-disk", run))
    say("cannot start a thread: old runs are kept, and the ring is not copied or spooled");
}

void finish_spooling() noexcept {
  constexpr std::uint64_t kLimit_ms = 2000;
  s_hangs = !s_worker.stop(exit_ms_left(kLimit_ms));
  if (s_spool_begun.load(std::memory_order_acquire)) finish_spool();
}

void finish_copying() noexcept {
  constexpr std::uint64_t kLimit_ms = 10'000;
  if (!is_copied()) return;
  const bool ended =
      !s_hangs && s_last_copy.start("tracetool-copy", make_last_copy) && s_last_copy.stop(exit_ms_left(kLimit_ms));
  if (ended && s_last_copy_made.load(std::memory_order_acquire)) {
    unlink(run_file().local_path);
    return;
  }
  const int error = s_copy_error.load();
  say("could not copy the end of the recording to %s (%s): it is in %s", trace_file_path(),
      error != 0 ? std::strerror(error) : "timeout", run_file().local_path);
}

std::uint64_t storage_cpu_ns() noexcept { return s_worker.cpu_ns() + s_last_copy.cpu_ns() + spool_cpu_ns(); }

}  // namespace agent
