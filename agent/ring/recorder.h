// The recording of this process: its file, opened at the first GPU event, and its two kinds of writers. CUPTI's
// completed buffers share one writer behind a lock; each host thread has its own writer.
#pragma once
#include <cstdint>
#include <string_view>

#include "agent/base/guard.h"
#include "agent/clocks/clocks.h"
#include "agent/ring/thread_state.h"
#include "common/definitions.h"

namespace agent {

// Off until open_recording(); closed permanently by close_recording().
enum class Recording { off, open, closed, failed };

Recording recording() noexcept;
// Creates the file at the first call. Returns false if there is none (a line has reported the reason), or if it was
// closed. Thread-safe.
bool open_recording(const Guard&) noexcept;
// Marks the file as closed. Nothing is recorded afterwards.
void close_recording() noexcept;

// Makes the kernel allocate the pages of the next blocks, so that no application thread waits for it while the ring is
// first filled. For our own thread.
void touch_next_blocks() noexcept;

// Valid while recording() is open.
trace::Ring& ring() noexcept;
Interner& interner() noexcept;
void count_lost(trace::RecordKind kind, std::uint64_t count = 1) noexcept;

// Counts a truncated name in the header, even if there is no header yet.
void count_cut_name() noexcept;
inline void count_cut_name(std::string_view whole, std::string_view kept) noexcept {
  if (kept.size() < whole.size()) count_cut_name();
}

// Returns the kernel's id of this thread.
std::uint32_t thread_id() noexcept;
// Called in a forked child: a thread of the parent may have been opening the recording.
void forget_opening() noexcept;
// Called in a forked child, whose thread has another id.
void forget_thread_id() noexcept;

// Part of the region reserved for identity and devices, which cannot be stored elsewhere.
inline constexpr std::size_t kIdentityReserve = 2048;

// Appends a permanent definition to the region. Returns false if less than `keep_free` bytes would remain.
template <typename Record>
bool define(const Record& record, std::size_t keep_free = 0) noexcept {
  const Locked locked(interner().lock());
  return trace::append_definition(ring(), keep_free, &record, sizeof(record)) != trace::kNoRef;
}

// A host thread's writing position in the ring. Cheap to construct, because its state lives as long as the thread.
class HostWriter {
 public:
  // Reserves room for records of `bytes` and for names: two texts of `name_bytes` in total, which are cut if they do
  // not fit a block, and two of `small_bytes`, which are not cut (at most 1 KiB each). If it fails, the object is false
  // and a record of `kind` is counted as lost.
  HostWriter(const Guard&, trace::RecordKind kind, std::size_t bytes, std::size_t name_bytes,
             std::size_t small_bytes = 0) noexcept;
  ~HostWriter() {
    if (ready_) state_->writer.leave();
  }
  HostWriter(HostWriter&&) = delete;
  explicit operator bool() const noexcept { return ready_; }

  // Makes room for `bytes` in addition to the initial room. Call it before naming anything: it may change the block,
  // which invalidates local references. Returns false if the bytes do not fit a block, with the initial room unchanged,
  // or if no block is available; then the writer becomes false and the record is counted as lost.
  bool make_room(std::size_t bytes) noexcept;

  // Returns kNoRef for "".
  std::uint32_t name(std::string_view text) noexcept { return named(text, kNamesReserve); }
  // The same for texts with many values, such as input lists: they respect stacks_reserve().
  std::uint32_t name_of_many(std::string_view text) noexcept { return named(text, stacks_reserve(ring())); }
  // A reference for later records. `ticket` is that of the block that defines it, or 0 for the definitions region.
  struct Name {
    std::uint32_t ref = trace::kNoRef;
    std::uint64_t ticket = 0;
  };
  Name kept(std::uint32_t ref) const noexcept { return {ref, trace::is_local(ref) ? ticket() : 0}; }
  // Returns false for kNoRef.
  bool has(const Name& name) const noexcept {
    return name.ref != trace::kNoRef && (name.ticket == 0 || name.ticket == ticket());
  }
  // Ticket of the current block.
  std::uint64_t ticket() const noexcept { return state_->writer.ticket(); }
  // Needs frame_room() bytes of room.
  std::uint32_t frame(const Frame& frame) noexcept;
  // Writes a stack of these frame references, innermost first.
  std::uint32_t stack(const std::uint32_t* frames, std::size_t count) noexcept;
  // `bytes` may be less than the size if appended fields are omitted; size_words must be set accordingly.
  template <typename Record>
  void append(const Record& record, std::size_t bytes = sizeof(Record)) noexcept {
    state_->writer.append(&record, bytes);
  }

 private:
  bool claim_room(std::size_t bytes) noexcept;
  std::uint32_t named(std::string_view text, std::size_t keep_free) noexcept;
  ThreadState* state_;
  trace::RecordKind kind_;
  std::size_t room_ = 0;
  bool ready_ = false;
};

// Records events in the life of the recording itself, so that readers know what is missing.

// `end_mono_ns` equals the start for an instant; 0 if it has not ended. Does nothing without a recording.
void write_notice(const Guard& guard, trace::NoticeCode code, std::uint32_t value, std::uint64_t start_mono_ns,
                  std::uint64_t end_mono_ns, std::string_view text) noexcept;
// The same about a moment: now.
inline void write_notice(const Guard& guard, trace::NoticeCode code, std::uint32_t value,
                         std::string_view text) noexcept {
  const std::uint64_t now_ns = mono_ns();
  write_notice(guard, code, value, now_ns, now_ns, text);
}

}  // namespace agent
