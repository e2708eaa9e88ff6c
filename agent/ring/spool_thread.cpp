// TRACETOOL_MODE=spool: a thread compresses every full block of the ring into X.spool next to X.ring, so that the whole
// run is kept. The ring is unchanged and contains the blocks that the spool does not have yet, so nothing is lost by
// SIGKILL. If the disk is slower than the program, blocks are recycled before they are spooled, and counted as
// overwritten. If the disk is full, one line reports it and only the ring continues.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "agent/base/memory.h"
#include "agent/base/message.h"
#include "agent/clocks/clocks.h"
#include "agent/ring/recorder.h"
#include "agent/ring/run_directory.h"
#include "agent/ring/spool_chunk.h"
#include "agent/ring/spool_walk.h"
#include "agent/ring/storage.h"
#include "agent/ring/whole_block.h"
#include "agent/ring/worker.h"

namespace agent {
namespace {

using Memory = trace::SharedMemory;

constinit Worker s_spooler{};
constinit trace::Ring s_spooled{};
constinit SpoolWalk s_walk{};
constinit ChunkMaker s_maker{};
constinit OwnDescriptor s_spool_file{};
constinit std::uint64_t s_bytes = 0;
constinit std::uint64_t s_max_bytes = 0;

void set_state(trace::SourceState state, int error) {
  trace::FileHeader& header = *s_spooled.header;
  __atomic_store_n(&header.spool_error, error, __ATOMIC_RELAXED);
  __atomic_store_n(&header.spool_state, static_cast<std::uint32_t>(state), __ATOMIC_RELEASE);
}

// Removes the remains of a failed write, if the disk permits; a reader finds the end without it.
bool end_spool(int error, const char* why) {
  if (ftruncate(s_spool_file.get(), static_cast<off_t>(s_bytes)) != 0)
    say_verbose("the spool ends with an incomplete block");
  s_spool_file.drop();
  set_state(trace::SourceState::failed, error);
  say("the spool ends after %llu MB (%s): only the ring is written from now on",
      static_cast<unsigned long long>(s_bytes >> 20), why);
  const Guard guard;
  if (guard) write_notice(guard, trace::NoticeCode::spool_ended, static_cast<std::uint32_t>(error), why);
  return false;
}

// Ends the spool with errno of a failed write.
bool end_by_errno() {
  const int error = errno;
  return end_spool(error, error == EBADF ? "the program has closed its file" : std::strerror(error));
}

bool write_whole(const std::byte* at, std::size_t bytes) {
  if (s_max_bytes != 0 && s_bytes + bytes > s_max_bytes) return end_spool(EFBIG, "TRACETOOL_MAX_DISK is reached");
  for (std::size_t left = bytes; left > 0;) {
    errno = ENOSPC;  // for a write of zero bytes
    const ssize_t wrote = write(s_spool_file.get(), at, left);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return end_by_errno();
    at += wrote;
    left -= static_cast<std::size_t>(wrote);
  }
  s_bytes += bytes;
  Memory::store(s_spooled.header->spooled_bytes, s_bytes);
  return true;
}

bool write_head() {
  trace::SpoolHeader head{};
  std::memcpy(head.magic, trace::kSpoolMagic, sizeof(head.magic));
  head.version = trace::kSpoolVersion;
  head.header_bytes = sizeof(head);
  head.created_real_ns = s_spooled.header->created_real_ns;
  head.process_start_ticks = s_spooled.header->process_start_ticks;
  head.pid = s_spooled.header->pid;
  head.chunk_header_bytes = sizeof(trace::SpoolChunk);
  return write_whole(reinterpret_cast<const std::byte*>(&head), sizeof(head));
}

// A block that is recycled during the copy is lost, and counted as overwritten by the thread that recycled it.
bool take(std::uint64_t index, std::uint64_t ticket) {
  trace::BlockHeader header;
  const bool whole = copy_whole_block(s_spooled, index, header, s_maker.payload()) && header.ticket == ticket;
  if (!whole || header.committed == 0) return true;
  std::size_t bytes = 0;
  const std::byte* chunk = s_maker.make(header, bytes);
  return chunk == nullptr || write_whole(chunk, bytes);
}

std::uint64_t pass(bool every, bool last) {
  const std::uint64_t waiting = s_walk.pass(every, last, take);
  Memory::store(s_spooled.header->spooled_ticket, s_walk.done_up_to());
  return waiting;
}

void spool() {
  // Blocks are checked before the ring can be overwritten at 2 GB/s, which is faster than records arrive.
  const double lap_ms = static_cast<double>(s_spooled.header->block_bytes * s_spooled.header->block_count) / 2e6;
  const double period_ms = std::clamp(lap_ms, 0.5, 50.0);
  std::uint64_t looked_at_all = 0;  // tickets when every block was last checked
  while (s_spool_file.held() && s_spooler.wait_ms(period_ms)) {
    const std::uint64_t claimed = Memory::load(s_spooled.header->claimed_blocks);
    const bool every = claimed - looked_at_all > s_spooled.header->block_count / 8;
    if (every) looked_at_all = claimed;
    pass(every, false);
  }
  if (!s_spool_file.held()) return;
  constexpr int kTries = 50;  // an append in progress ends within microseconds, or never
  for (int i = 0; i < kTries && pass(true, true) > 0 && s_spool_file.held(); ++i) usleep(1000);
  // A network filesystem may report only here that it is full.
  if (s_spool_file.held() && !s_spool_file.drop()) set_state(trace::SourceState::failed, errno);
}

bool refuse(const char* why) {
  set_state(trace::SourceState::failed, errno);
  say("TRACETOOL_MODE=spool: %s: only the ring is written", why);
  s_spool_file.drop();
  return false;
}

}  // namespace

bool start_spool(const trace::Ring& ring, int directory, const char* name, std::uint64_t max_bytes) noexcept {
  s_spooled = ring;
  s_max_bytes = max_bytes;
  errno = ENOSYS;
  if (!can_spool()) return refuse("this agent was built without zstd");
  auto* done = map_zeroed<std::uint64_t>(ring.header->block_count * sizeof(std::uint64_t));
  if (done == nullptr || !s_maker.begin(ring.payload_bytes())) return refuse("not enough memory");
  s_walk.begin(ring, done);
  const int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (!s_spool_file.take(file)) return refuse("cannot create its file");
  set_state(trace::SourceState::on, 0);
  if (!write_head()) return false;
  return s_spooler.start("tracetool-spool", spool) || refuse("cannot start a thread");
}

void finish_spool() noexcept {
  constexpr std::uint64_t kLimit_ms = 5000;
  if (!s_spooler.stop(exit_ms_left(kLimit_ms))) say("the spool's disk is slow: the last records are only in the ring");
}

std::uint64_t spool_cpu_ns() noexcept { return s_spooler.cpu_ns(); }

}  // namespace agent
