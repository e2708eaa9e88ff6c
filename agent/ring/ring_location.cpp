#include "agent/ring/ring_location.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "agent/base/memory.h"
#include "agent/clocks/clocks.h"
#include "agent/ring/run_directory.h"
#include "agent/ring/storage.h"
#include "agent/ring/whole_block.h"
#include "common/filesystems.h"

namespace agent {

Fit ring_fits(int file, std::uint64_t bytes) noexcept {
  struct statfs info;
  if (fstatfs(file, &info) != 0) return Fit::wrong_filesystem;
  const trace::Filesystem* known = trace::filesystem_of(static_cast<std::uint64_t>(info.f_type));
  if (known == nullptr || !known->maps_in_place) return Fit::wrong_filesystem;
  if (known->type == trace::kTmpfs && memory_room() / 2 < bytes) return Fit::no_memory;
  return Fit::good;
}

const char* local_directory(int number) noexcept {
  static constexpr const char* kDirectories[] = {"/tmp", "/var/tmp", "/dev/shm"};
  const char* chosen = std::getenv("TMPDIR");
  if (chosen != nullptr && chosen[0] == '/') {
    if (number == 0) return chosen;
    --number;
  }
  return number < 3 ? kDirectories[number] : nullptr;
}

bool has_room(int directory, std::uint64_t bytes) noexcept {
  struct statfs info;
  if (fstatfs(directory, &info) != 0) return false;
  const auto block = static_cast<std::uint64_t>(info.f_bsize);
  return info.f_bavail * block > bytes + info.f_blocks / 16 * block;
}

bool reserve_space(int file, std::uint64_t bytes) noexcept {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) {
    errno = EFBIG;
    return false;
  }
  return fallocate(file, 0, 0, static_cast<off_t>(bytes)) == 0;
}

namespace {

using Memory = trace::SharedMemory;
constexpr double kCopyBytesPerSecond = 64e6;

// Makes a copy: blocks first, then definitions, then the header, so that everything referenced exists.
class Copy {
 public:
  Copy(const trace::Ring& ring, const OwnDescriptor& file, std::byte* block, Worker* worker) noexcept
      : ring_(ring), file_(file), block_(block), worker_(worker), started_ns_(mono_ns()) {}

  bool make() noexcept {
    const trace::FileHeader& header = *ring_.header;
    if (ftruncate(file_.get(), static_cast<off_t>(header.file_bytes)) != 0) return false;
    for (std::uint64_t index = 0; index < header.block_count; ++index) {
      if (Memory::load(ring_.block(index)->generation) != 0 && !copy_block(index)) return false;
    }
    const std::uint64_t used = Memory::load_acquire(header.definitions_used);
    trace::FileHeader copied;
    if (!write_at(ring_.definitions(), used, header.definitions_offset)) return false;
    load_bytes(&copied, ring_.header, sizeof(copied));
    copied.definitions_used = used;
    copied.copied_real_ns = real_ns();
    return write_at(&copied, sizeof(copied), 0);
  }

 private:
  bool write_at(const void* from, std::size_t bytes, std::uint64_t offset) noexcept {
    const auto* at = static_cast<const char*>(from);
    while (bytes > 0) {
      const ssize_t wrote = pwrite(file_.get(), at, bytes, static_cast<off_t>(offset));
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) return false;
      at += wrote;
      offset += static_cast<std::uint64_t>(wrote);
      bytes -= static_cast<std::size_t>(wrote);
      written_ += static_cast<std::uint64_t>(wrote);
    }
    return true;
  }

  bool has_time() noexcept {
    if (worker_ == nullptr) return true;
    const double due_ms = static_cast<double>(written_) / kCopyBytesPerSecond * 1e3;
    const double ahead_ms = due_ms - static_cast<double>(mono_ns() - started_ns_) / 1e6;
    if (ahead_ms < 5 ? !worker_->stopping() : worker_->wait_ms(ahead_ms)) return true;
    errno = ECANCELED;
    return false;
  }

  // A block that changes repeatedly is copied without its payload; its earlier content is still counted.
  bool copy_block(std::uint64_t index) noexcept {
    trace::BlockHeader header;
    std::byte* payload = block_ + sizeof(header);
    bool whole = false;
    for (int tries = 0; !whole && tries < 3; ++tries) whole = copy_whole_block(ring_, index, header, payload);
    if (!whole) {
      header.generation += header.generation % 2;  // selects the same counts, see overwritten_index()
      header.committed = 0;
    }
    std::memcpy(block_, &header, sizeof(header));
    const std::uint64_t offset = ring_.header->blocks_offset + index * ring_.header->block_bytes;
    return write_at(block_, sizeof(header) + header.committed, offset) && has_time();
  }

  trace::Ring ring_;
  const OwnDescriptor& file_;
  std::byte* block_;
  Worker* worker_;
  std::uint64_t started_ns_;
  std::uint64_t written_ = 0;
};

bool fill(const trace::Ring& ring, OwnDescriptor& file, Worker* worker) {
  static constinit std::byte* s_block = nullptr;  // memory for one block, never freed
  if (s_block == nullptr) s_block = map_zeroed<std::byte>(ring.header->block_bytes);
  const bool made = s_block != nullptr && Copy(ring, file, s_block, worker).make();
  const int error = errno;
  if (!file.drop()) return false;  // a network filesystem may report only here that it is full
  errno = error;
  return made;
}

}  // namespace

bool copy_ring(const trace::Ring& ring, int directory, const char* name, Worker* worker) noexcept {
  char part[NAME_MAX + 1];
  snprintf(part, sizeof(part), ".%s.part", name);
  unlinkat(directory, part, 0);
  OwnDescriptor file;
  if (!file.take(openat(directory, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600))) return false;
  if (fill(ring, file, worker) && renameat(directory, part, directory, name) == 0) return true;
  const int error = errno;
  unlinkat(directory, part, 0);
  errno = error;
  return false;
}

std::uint64_t ring_fingerprint(const trace::Ring& ring, std::uint32_t own_tid) noexcept {
  std::uint64_t sum = Memory::load(ring.header->definitions_used);
  for (std::uint64_t index = 0; index < ring.header->block_count; ++index) {
    const trace::BlockHeader& block = *ring.block(index);
    if (block.tid != own_tid) sum = sum * 31 + Memory::load(block.committed) + Memory::load(block.generation);
  }
  return sum;
}

}  // namespace agent
