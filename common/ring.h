// The ring: how threads of one process append records to blocks of a mapped file, while the process may be killed at
// any instruction and a reader may look at any moment. No lock, no allocation, no system call.
//
//   free ----claim----> writing <---enter/leave---> owned
//                          |                          |
//                          +--- full: sealed ---------+---claim by another, a lap later---> writing (new ticket)
//
// Blocks are claimed in turn (ticket modulo block_count), so the one that is taken is the oldest, wherever it stands;
// one that is being written at that instant is passed over. A block that its owner holds but is not writing is taken
// from it: the state word holds the ticket, so the owner's next enter() fails and it claims another. Thus a thread that
// wrote one record and sleeps, or died, pins nothing. (Discarded: a queue of sealed blocks in the order of sealing; it
// needs a lock or a second ring, and differs only for blocks that outlived a lap. A lock per block: a killed owner
// would keep it.)
//
// Cost: enter and leave are one compare-and-swap and one store; the flushing thread holds its block for a whole CUPTI
// buffer. Recycling walks the old records once to count them per kind: 64 KiB, some microseconds, once per 2,000
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

// The size of the record at `at`, or 0 where none can start: kind 0, or a size that does not fit into `left` bytes.
inline std::size_t record_size(const std::byte* at, std::size_t left) {
  if (left < 8 || at[0] == std::byte{0}) return 0;
  std::uint32_t long_size;
  std::memcpy(&long_size, at + 4, 4);
  const std::size_t words = static_cast<std::size_t>(at[1]);
  const std::size_t size = words != 0 ? words * 8 : long_size;
  return size >= 8 && size % 8 == 0 && size <= left ? size : 0;
}

// Adds the events among `bytes` of whole records to counts[kind - 16].
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
  // Ready to append; claims a block where the old one was taken. `clock()` gives a ClockSample and is called only when
  // a block is claimed. False: no block can be had (all are being written).
  template <typename Clock>
  bool enter(const Ring& ring, std::uint32_t tid, const Clock& clock);
  // Ends what enter() began; also after a make_room() that failed.
  void leave();

  // Between enter and leave. Makes sure that `bytes` fit in one block, claiming the next one if they do not: local
  // references made after it stay valid until that many bytes are written. False: they never fit, or no block.
  template <typename Clock>
  bool make_room(std::size_t bytes, const Clock& clock);
  // Appends and publishes one record of `bytes` (a multiple of 8); room must have been made. Returns its offset in the
  // payload.
  std::uint32_t append(const void* record, std::size_t bytes);
  // The same in two parts, as one record: `bytes` rounds up to words, what lies between is zero.
  std::uint32_t append(const void* head, std::size_t head_bytes, const void* tail, std::size_t tail_bytes);

  std::uint64_t ticket() const { return ticket_; }  // names the block; 0: none yet
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

// One lap is enough: whatever is not being written at this instant can be taken.
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
