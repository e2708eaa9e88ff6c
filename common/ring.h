// The ring: threads of one process append records to blocks of a mapped file, while the process may be killed at any
// instruction and a reader may read at any moment. No locks, no allocations, no system calls.
//
//   free ----claim----> writing <---enter/leave---> owned
//                          |                          |
//                          +--- full: sealed ---------+---claim by another, a lap later---> writing (new ticket)
//
// Blocks are claimed in turn (ticket modulo block_count), so the oldest block is taken, in any state; only a block that
// is being written at that instant is skipped. If its owner holds the block but is not writing, the owner loses it: the
// state word contains the ticket, so the owner's next enter() fails and it claims another block. A thread that wrote
// one record and then sleeps or dies therefore blocks nothing. (Rejected: a queue of sealed blocks in the order of
// sealing needs a lock or a second ring, and differs only for blocks older than a lap. With a lock per block, a killed
// owner would keep it.)
//
// Cost: enter and leave are one compare-and-swap and one store. The flushing thread holds its block for a whole CUPTI
// buffer. Recycling reads the old records once to count them per kind: 64 KiB, a few microseconds, once per 2,000
// records.
#pragma once
#include <cstddef>
#include <cstdint>

#include "common/layout.h"
#include "common/memory.h"
#include "common/record.h"

namespace trace {

// The mapped file. Copyable; owns nothing.
struct Ring {
  FileHeader* header = nullptr;

  std::byte* base() const { return reinterpret_cast<std::byte*>(header); }
  std::byte* definitions() const { return base() + header->definitions_offset; }
  BlockHeader* block(std::uint64_t index) const {
    return reinterpret_cast<BlockHeader*>(base() + header->blocks_offset + index * header->block_bytes);
  }
  std::uint64_t payload_bytes() const { return header->block_bytes - sizeof(BlockHeader); }
};

inline std::byte* payload_of(BlockHeader* block) { return reinterpret_cast<std::byte*>(block) + sizeof(BlockHeader); }

// Returns the size of the record at `at`, or 0 if no record can start there: kind 0, or a size beyond `left` bytes.
inline std::size_t record_size(const std::byte* at, std::size_t left) {
  if (left < 8 || at[0] == std::byte{0}) return 0;
  std::uint32_t long_size;
  std::memcpy(&long_size, at + 4, 4);
  const std::size_t words = static_cast<std::size_t>(at[1]);
  const std::size_t size = words != 0 ? words * 8 : long_size;
  return size >= 8 && size % 8 == 0 && size <= left ? size : 0;
}

// Adds the number of events among `bytes` of complete records to counts[kind - 16].
inline void count_events(const std::byte* records, std::size_t bytes, std::uint64_t* counts) {
  std::size_t size;
  for (std::size_t at = 0; (size = record_size(records + at, bytes - at)) != 0; at += size) {
    const auto kind = static_cast<std::uint8_t>(records[at]);
    if (is_event(kind)) ++counts[kind - kFirstEventKind];
  }
}

// One writer's position in the ring. Not thread-safe: one per thread, or guarded by its owner.
template <typename Memory = SharedMemory>
class BlockWriter {
 public:
  // Prepares to append; claims a new block if the old one was taken. Calls `clock()` for a ClockSample only if it
  // claims a block. Returns false if no block is available (all are being written).
  template <typename Clock>
  bool enter(const Ring& ring, std::uint32_t tid, const Clock& clock);
  // Ends what enter() began. Also required after a make_room() that failed.
  void leave();

  // Call it between enter and leave. Ensures that `bytes` fit into one block, and claims the next block if they do not.
  // Local references made after it stay valid until that many bytes are written. Returns false if they never fit or no
  // block is available.
  template <typename Clock>
  bool make_room(std::size_t bytes, const Clock& clock);
  // Appends and publishes one record of `bytes` (a multiple of 8). make_room() must have been called. Returns its
  // offset in the payload.
  std::uint32_t append(const void* record, std::size_t bytes);
  // The same for a record in two parts. `bytes` is rounded up to words; the gap is filled with zeros.
  std::uint32_t append(const void* head, std::size_t head_bytes, const void* tail, std::size_t tail_bytes);

  std::uint64_t ticket() const { return ticket_; }  // identifies the block; 0 if none yet
  const std::byte* payload() const { return payload_of(block_); }
  std::size_t free_bytes() const { return capacity_ - used_; }

 private:
  template <typename Clock>
  bool claim(const Clock& clock);
  void recycle(BlockHeader* block, std::uint64_t ticket, const ClockSample& clock);
  void seal();

  Ring ring_;
  BlockHeader* block_ = nullptr;
  std::uint64_t ticket_ = 0;
  std::size_t used_ = 0;
  std::size_t capacity_ = 0;
  std::uint32_t tid_ = 0;
};

template <typename Memory>
template <typename Clock>
bool BlockWriter<Memory>::enter(const Ring& ring, std::uint32_t tid, const Clock& clock) {
  ring_ = ring;
  tid_ = tid;
  if (block_ != nullptr && Memory::exchange_if(block_->state, block_state(ticket_, BlockState::owned),
                                               block_state(ticket_, BlockState::writing))) {
    return true;
  }
  return claim(clock);
}

template <typename Memory>
void BlockWriter<Memory>::leave() {
  if (block_ == nullptr) return;
  Memory::store_release(block_->state, block_state(ticket_, BlockState::owned));
}

template <typename Memory>
void BlockWriter<Memory>::seal() {
  Memory::store_release(block_->state, block_state(ticket_, BlockState::sealed));
}

template <typename Memory>
template <typename Clock>
bool BlockWriter<Memory>::make_room(std::size_t bytes, const Clock& clock) {
  if (block_ != nullptr && bytes <= free_bytes()) return true;
  if (bytes > ring_.payload_bytes()) return false;
  if (block_ != nullptr) seal();
  return claim(clock);
}

template <typename Memory>
std::uint32_t BlockWriter<Memory>::append(const void* record, std::size_t bytes) {
  return append(record, bytes, nullptr, 0);
}

template <typename Memory>
std::uint32_t BlockWriter<Memory>::append(const void* head, std::size_t head_bytes, const void* tail,
                                          std::size_t tail_bytes) {
  const std::size_t offset = used_;
  store_bytes<Memory>(payload_of(block_) + offset, head, head_bytes);
  store_bytes<Memory>(payload_of(block_) + offset + head_bytes, tail, tail_bytes);
  used_ = offset + head_bytes + (tail_bytes + 7) / 8 * 8;
  Memory::store_release(block_->committed, used_);
  return static_cast<std::uint32_t>(offset);
}

// One lap is enough: every block that is not being written at this instant can be taken.
template <typename Memory>
template <typename Clock>
bool BlockWriter<Memory>::claim(const Clock& clock) {
  block_ = nullptr;
  const std::uint64_t blocks = ring_.header->block_count;
  for (std::uint64_t tries = 0; tries < blocks; ++tries) {
    const std::uint64_t ticket = Memory::add(ring_.header->claimed_blocks, 1) + 1;
    BlockHeader* block = ring_.block(ticket % blocks);
    const std::uint64_t state = Memory::load(block->state);
    if (state_of(state) == BlockState::writing) continue;
    if (!Memory::exchange_if(block->state, state, block_state(ticket, BlockState::writing))) continue;
    recycle(block, ticket, clock());
    return true;
  }
  return false;
}

template <typename Memory>
void BlockWriter<Memory>::recycle(BlockHeader* block, std::uint64_t ticket, const ClockSample& clock) {
  const std::uint64_t generation = Memory::load(block->generation);
  const std::uint64_t* past = block->overwritten[overwritten_index(generation)];
  std::uint64_t* next = block->overwritten[overwritten_index(generation + 1)];
  std::uint64_t counts[kEventKinds] = {};
  count_events(payload_of(block), Memory::load_acquire(block->committed), counts);
  for (std::size_t kind = 0; kind < kEventKinds; ++kind) Memory::store(next[kind], past[kind] + counts[kind]);

  Memory::store_release(block->generation, generation + 1);
  Memory::store_store_barrier();
  Memory::store(block->committed, 0);
  Memory::store(block->ticket, ticket);
  store_bytes<Memory>(reinterpret_cast<std::byte*>(&block->tid), &tid_, sizeof(tid_));
  store_bytes<Memory>(reinterpret_cast<std::byte*>(&block->clock), &clock, sizeof(clock));
  Memory::store_release(block->generation, generation + 2);

  block_ = block;
  ticket_ = ticket;
  used_ = 0;
  capacity_ = ring_.payload_bytes();
}

}  // namespace trace
