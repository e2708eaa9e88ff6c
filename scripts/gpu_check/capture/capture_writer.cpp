#include "scripts/gpu_check/capture/capture_writer.h"

#include <cupti.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace raw_capture {
namespace {

constinit pthread_mutex_t s_writing = PTHREAD_MUTEX_INITIALIZER;
constinit std::atomic<int> s_file{-1};
constinit pid_t s_pid = 0;
constinit std::uint64_t s_limit_bytes = 256 << 10;
constinit std::atomic<std::uint64_t> s_buffer_bytes{0};
constinit std::atomic<std::uint64_t> s_nvtx_bytes{0};
constinit Totals s_totals{};

int create() {
  const char* folder = std::getenv("RAW_CAPTURE_DIR");
  if (folder == nullptr || folder[0] == '\0') return -1;
  char path[4096];
  snprintf(path, sizeof(path), "%s/%d.rawcapture", folder, getpid());
  return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND | O_NOFOLLOW, 0600);
}

void read_limit() {
  const char* text = std::getenv("RAW_CAPTURE_BYTES");
  const std::uint64_t bytes = text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
  if (bytes != 0) s_limit_bytes = bytes;
}

// In one call, so that a kill leaves a whole section or the beginning of one.
void write_parts(int file, const Section& section, std::initializer_list<Part> content) {
  constexpr std::size_t kParts = 8;
  static constexpr char kZeros[8] = {};
  iovec parts[kParts];
  std::size_t count = 0;
  parts[count++] = {const_cast<Section*>(&section), sizeof(section)};
  for (const Part& part : content) {
    if (count < kParts - 1) parts[count++] = {const_cast<void*>(part.at), part.bytes};
  }
  parts[count++] = {const_cast<char*>(kZeros), (8 - section.bytes % 8) % 8};
  [[maybe_unused]] const ssize_t written = writev(file, parts, static_cast<int>(count));
}

bool is_own_process() { return s_file.load(std::memory_order_acquire) >= 0 && getpid() == s_pid; }

}  // namespace

std::uint64_t clock_ns(int clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

bool open_file(std::uint32_t cupti_version, std::int32_t driver_version) noexcept {
  const int file = create();
  if (file < 0) return false;
  read_limit();
  s_pid = getpid();
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.header_bytes = sizeof(header);
  header.cupti_version = cupti_version;
  header.header_cupti_version = CUPTI_API_VERSION;
  header.driver_version = driver_version;
  header.pid = s_pid;
  const bool written = write(file, &header, sizeof(header)) == static_cast<ssize_t>(sizeof(header));
  s_file.store(file, std::memory_order_release);
  return written;
}

bool is_open() noexcept { return is_own_process(); }

bool has_room(SectionType type, std::size_t bytes) noexcept {
  const bool nvtx = type == SectionType::nvtx;
  std::atomic<std::uint64_t>& used = nvtx ? s_nvtx_bytes : s_buffer_bytes;
  const std::uint64_t limit = nvtx ? s_limit_bytes / 4 : s_limit_bytes / 4 * 3;
  if (used.fetch_add(bytes) + bytes <= limit) return true;
  used.fetch_sub(bytes);
  return false;
}

void write_section(SectionType type, std::initializer_list<Part> content) noexcept {
  if (!is_own_process()) return;
  Section section{type, static_cast<std::uint32_t>(syscall(SYS_gettid)), 0, clock_ns(CLOCK_MONOTONIC)};
  for (const Part& part : content) section.bytes += part.bytes;
  pthread_mutex_lock(&s_writing);
  write_parts(s_file.load(), section, content);
  pthread_mutex_unlock(&s_writing);
}

Totals& totals() noexcept { return s_totals; }

}  // namespace raw_capture
