#include "agent/ring/recorder.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "agent/base/agent_settings.h"
#include "agent/base/message.h"
#include "agent/ring/storage.h"
#include "agent/ring/trace_file.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; older kernels refuse it, and only the early allocation is missing
#endif

namespace agent {
namespace {

constinit trace::Ring s_ring{};
constinit Interner s_interner{};
constinit std::atomic<Recording> s_recording{Recording::off};
constinit Spinlock s_opening{};
constinit std::atomic<std::uint64_t> s_cut_names{0};

thread_local std::uint32_t t_thread_id __attribute__((tls_model("initial-exec"))) = 0;

}  // namespace

Recording recording() noexcept { return s_recording.load(std::memory_order_acquire); }
trace::Ring& ring() noexcept { return s_ring; }
Interner& interner() noexcept { return s_interner; }

bool open_recording(const Guard&) noexcept {
  if (recording() == Recording::off) {
    const Uncancelled uncancelled;
    const Locked locked(s_opening);
    if (recording() == Recording::off) {
      const bool made = create_trace_file(settings().dir, settings().ring_bytes, s_ring);
      if (made) trace::SharedMemory::store(s_ring.header->truncated_names, s_cut_names.load());
      if (made) say_verbose("recording into %s", trace_file_path());
      s_recording.store(made ? Recording::open : Recording::failed, std::memory_order_release);
    }
  }
  return recording() == Recording::open;
}

void close_recording() noexcept {
  Recording expected = Recording::open;
  if (!s_recording.compare_exchange_strong(expected, Recording::closed)) return;
  finish_spooling();
  trace::SharedMemory::store_release(s_ring.header->closed_real_ns, real_ns());
  finish_copying();
}

void touch_next_blocks() noexcept {
  // The kernel blocks threads that map memory meanwhile
  constexpr std::uint64_t kAheadBytes = 4u << 20, kMostAheadBytes = 64u << 20;
  static constinit std::uint64_t s_touched = 0;  // number of blocks, from the first one
  static constinit std::uint64_t s_claimed = 0;  // at the last call
  const trace::FileHeader& header = *s_ring.header;
  const std::uint64_t claimed = trace::SharedMemory::load(header.claimed_blocks);
  // As much as was written since the last call is expected until the next one, plus a margin.
  const std::uint64_t ahead =
      std::min(kAheadBytes / header.block_bytes + (claimed - s_claimed) * 3 / 2, kMostAheadBytes / header.block_bytes);
  s_claimed = claimed;
  const std::uint64_t wanted = std::min(header.block_count, claimed + 1 + ahead);
  if (s_touched >= wanted) return;
  madvise(s_ring.block(s_touched), (wanted - s_touched) * header.block_bytes, MADV_POPULATE_WRITE);
  s_touched = wanted;
}

void count_lost(trace::RecordKind kind, std::uint64_t count) noexcept {
  if (!trace::is_event(static_cast<std::uint8_t>(kind))) {
    trace::SharedMemory::add(s_ring.header->definitions_missed, count);
    return;
  }
  const auto index = static_cast<std::size_t>(kind) - trace::kFirstEventKind;
  trace::SharedMemory::add(s_ring.header->lost[index], count);
}

void count_cut_name() noexcept {
  const std::uint64_t names = s_cut_names.fetch_add(1, std::memory_order_relaxed) + 1;
  if (recording() == Recording::open) trace::SharedMemory::store(s_ring.header->truncated_names, names);
}

std::uint32_t thread_id() noexcept {
  if (t_thread_id == 0) t_thread_id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  return t_thread_id;
}

void forget_opening() noexcept { s_opening.unlock(); }
void forget_thread_id() noexcept { t_thread_id = 0; }

HostWriter::HostWriter(const Guard&, trace::RecordKind kind, std::size_t bytes, std::size_t name_bytes,
                       std::size_t small_bytes) noexcept
    : state_(thread_state()), kind_(kind) {
  if (state_ == nullptr || !state_->writer.enter(s_ring, thread_id(), carried_clocks)) {
    count_lost(kind);
    return;
  }
  std::size_t names = std::min(name_bytes, 2 * longest_name(s_ring)) + 2 * string_room(0) + 16;
  if (small_bytes > 0) names += small_bytes + 2 * string_room(0) + 16;
  ready_ = true;
  room_ = bytes + names;
  claim_room(room_);
}

bool HostWriter::claim_room(std::size_t bytes) noexcept {
  ready_ = state_->writer.make_room(bytes, carried_clocks);
  if (ready_) return true;
  state_->writer.leave();
  count_lost(kind_);
  return false;
}

bool HostWriter::make_room(std::size_t bytes) noexcept {
  return ready_ && room_ + bytes <= s_ring.payload_bytes() && claim_room(room_ + bytes);
}

// Uses the thread's own small table first, and the shared one only if its lock is free.
std::uint32_t HostWriter::named(std::string_view text, std::size_t keep_free) noexcept {
  if (text.empty()) return trace::kNoRef;
  const std::string_view whole = text;
  text = clipped(whole, longest_name(s_ring));
  if (const std::uint32_t known = state_->find_name(text); known != trace::kNoRef) return known;
  count_cut_name(whole, text);
  std::uint32_t ref;
  if (s_interner.lock().try_lock()) {
    ref = s_interner.string(s_ring, state_->writer, text, keep_free);
    s_interner.lock().unlock();
  } else {
    ref = define_string(state_->writer, text);
  }
  state_->remember_name(text, ref);
  return ref;
}

std::uint32_t HostWriter::frame(const Frame& frame) noexcept {
  Frame kept = frame;
  kept.name = clipped(frame.name, Frame::kMost);
  kept.file = clipped(frame.file, Frame::kMost);
  count_cut_name(frame.name, kept.name);
  count_cut_name(frame.file, kept.file);
  if (!s_interner.lock().try_lock()) return define_frame(state_->writer, kept);
  const std::uint32_t ref = s_interner.frame(s_ring, state_->writer, kept);
  s_interner.lock().unlock();
  return ref;
}

// A stack with a local frame is valid only in its block, so it never goes to the region.
std::uint32_t HostWriter::stack(const std::uint32_t* frames, std::size_t count) noexcept {
  const std::string_view bytes(reinterpret_cast<const char*>(frames), count * sizeof(frames[0]));
  if (std::none_of(frames, frames + count, trace::is_local)) return name_of_many(bytes);
  std::uint32_t ref = state_->find_name(bytes);
  if (ref != trace::kNoRef) return ref;
  ref = define_string(state_->writer, bytes);
  state_->remember_name(bytes, ref);
  return ref;
}

void write_notice(const Guard& guard, trace::NoticeCode code, std::uint32_t value, std::uint64_t start_mono_ns,
                  std::uint64_t end_mono_ns, std::string_view text) noexcept {
  if (recording() != Recording::open) return;
  auto record = trace::make_record<trace::NoticeRecord>();
  record.code = static_cast<std::uint8_t>(code);
  record.value = value;
  record.start_mono_ns = start_mono_ns;
  record.end_mono_ns = end_mono_ns;
  HostWriter writer(guard, trace::NoticeRecord::kKind, sizeof(record), text.size());
  if (!writer) return;
  record.text_ref = writer.name(text);
  writer.append(record);
}

}  // namespace agent
