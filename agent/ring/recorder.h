// The recording of this process: its file, opened at the first event that belongs to the GPU, and the two ways in.
// The flush side (CUPTI's completed buffers) has one writer behind a lock; each host thread has a writer of its own.
#pragma once
#include <cstdint>
#include <string_view>

#include "agent/base/guard.h"
#include "agent/clocks/clocks.h"
#include "agent/ring/interner.h"
#include "common/definitions.h"

namespace agent {

// Off until open_recording(); closed by close_recording() for good.
enum class Recording { off, open, closed, failed };

Recording recording() noexcept;
// Makes the file at its first call. False: there is none (a line has said why), or it was closed. Thread-safe.
bool open_recording(const Guard&) noexcept;
// Marks the file as closed. Nothing is recorded after it.
void close_recording() noexcept;

// Makes the kernel hand out the pages of the blocks that come next, so that no application thread waits for it in the
// first lap. For our own thread.
void touch_next_blocks() noexcept;

// Valid while recording() is open.
trace::Ring& ring() noexcept;
Interner& interner() noexcept;
void count_lost(trace::RecordKind kind, std::uint64_t count = 1) noexcept;

// A name that was not kept whole: counted in the header, also before there is one.
void count_cut_name() noexcept;
inline void count_cut_name(std::string_view whole, std::string_view kept) noexcept {
  if (kept.size() < whole.size()) count_cut_name();
}

// The id of this thread as the kernel has it.
std::uint32_t thread_id() noexcept;
// In a forked child: a thread of the parent may have been opening the recording.
void forget_opening() noexcept;
// In a forked child, whose thread has another.
void forget_thread_id() noexcept;

// What only identity and devices may use of the region: they have no other place.
inline constexpr std::size_t kIdentityReserve = 2048;

// Appends a permanent definition to the region; false when less than `keep_free` bytes would remain.
template <typename Record>
bool define(const Record& record, std::size_t keep_free = 0) noexcept {
  const Locked locked(interner().lock());
  return trace::append_definition(ring(), keep_free, &record, sizeof(record)) != trace::kNoRef;
}

// A host thread's writing position in the ring. Cheap to make: the state behind it lives as long as the thread.
class HostWriter {
 public:
  // Enters with room for records of `bytes` and, as names, for two texts of `name_bytes` together, which are cut where they are longer than
  // a block has room for, and two of `small_bytes`, which are not (at most 1 KiB each). False: lost, and counted as `kind`.
  HostWriter(const Guard&, trace::RecordKind kind, std::size_t bytes, std::size_t name_bytes, std::size_t small_bytes = 0) noexcept;
  ~HostWriter();
  HostWriter(const HostWriter&) = delete;
  HostWriter& operator=(const HostWriter&) = delete;
  explicit operator bool() const noexcept { return ready_; }

  // Makes room for `bytes` in addition to the initial room. Call it before naming anything: it may change the block, which invalidates local
  // references. Returns false if the bytes do not fit a block, with the initial room unchanged, or if no block is available; then the
  // writer becomes false and the record is counted as lost.
  bool make_room(std::size_t bytes) noexcept;

  std::uint32_t name(std::string_view text) noexcept;  // kNoRef for ""
  // The same for texts with many values, such as input lists: they respect stacks_reserve().
  std::uint32_t name_of_many(std::string_view text) noexcept;
  // A reference for later records. `ticket` is that of the block that defines it, or 0 for the definitions region.
  struct Name {
    std::uint32_t ref = trace::kNoRef;
    std::uint64_t ticket = 0;
  };
  Name kept(std::uint32_t ref) const noexcept;
  bool has(const Name& name) const noexcept;  // false for kNoRef
  // Ticket of the current block.
  std::uint64_t ticket() const noexcept;
  // Needs frame_room() bytes of room.
  std::uint32_t frame(const Frame& frame) noexcept;
  // Writes a stack of these frame references, innermost first.
  std::uint32_t stack(const std::uint32_t* frames, std::size_t count) noexcept;
  // `bytes`: all of it, or less where appended fields are not there; then its size_words must say so too.
  template <typename Record>
  void append(const Record& record, std::size_t bytes = sizeof(Record)) noexcept {
    writer().append(&record, bytes);
  }

 private:
  Writer& writer() noexcept;
  bool claim_room(std::size_t bytes) noexcept;
  std::uint32_t named(std::string_view text, std::size_t keep_free) noexcept;
  struct ThreadState* state_;
  trace::RecordKind kind_;
  std::size_t room_ = 0;
  bool ready_ = false;
};

// What happened to the recording itself, written into it, so that whoever reads the numbers knows what they lack.

// `end_mono_ns` equal to the start: a moment; 0: it has not ended. Nothing where there is no recording.
void write_notice(const Guard& guard, trace::NoticeCode code, std::uint32_t value, std::uint64_t start_mono_ns,
                  std::uint64_t end_mono_ns, std::string_view text) noexcept;

}  // namespace agent
