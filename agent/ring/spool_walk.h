// Finds the blocks of the ring that are due for the spool, and those that wait. This part is independent of the disk.
//
// A block is due when it is sealed, that is, full. A block that is held but not written by its owner is sealed for it
// (owned -> sealed by compare-and-swap, as a claimer would do) half a lap after it was claimed, so that it is in the
// spool before it is recycled. It is not sealed earlier, because the ring keeps it safe and blocks sealed half empty
// reduce the ring's capacity. A block that is being written at that moment is checked again later.
#pragma once
#include <cstdint>

#include "common/ring.h"

namespace agent {

class SpoolWalk {
 public:
  // `done` has ring.header->block_count words, all zero.
  void begin(const trace::Ring& ring, std::uint64_t* done) noexcept {
    ring_ = ring;
    done_ = done;
  }

  // Calls take(index, ticket) for each block that is due, in the order of tickets; take() returns false to end the
  // walk. `every` checks every block of the ring, instead of only those since the last one that waits. `last` means
  // that no more blocks are claimed, so all held blocks are sealed. Returns the number of blocks that wait.
  template <typename Take>
  std::uint64_t pass(bool every, bool last, const Take& take) noexcept {
    const std::uint64_t blocks = ring_.header->block_count;
    const std::uint64_t claimed = trace::SharedMemory::load_acquire(ring_.header->claimed_blocks);
    const std::uint64_t lap = claimed > blocks ? claimed - blocks + 1 : 1;
    std::uint64_t waiting = 0, first_waiting = claimed + 1;
    for (std::uint64_t at = every || next_ < lap ? lap : next_; at <= claimed; ++at) {
      std::uint64_t ticket;
      Due due = look(at % blocks, claimed, last, ticket);
      // Its ticket is drawn, but not claimed yet; or its claimer skipped it, which is certain after half a lap.
      if (due == Due::no && ticket < at && !last && claimed - at <= blocks / 2) due = Due::waits;
      if (due == Due::no) continue;
      if (due == Due::yes) {
        if (!take(at % blocks, ticket)) return waiting;
        done_[at % blocks] = ticket;
        continue;
      }
      if (waiting++ == 0) first_waiting = at;
    }
    next_ = first_waiting;
    return waiting;
  }

  // Returns the ticket up to which every block was taken, or overwritten before.
  std::uint64_t done_up_to() const noexcept { return next_ - 1; }

 private:
  enum class Due { no, waits, yes };
  Due look(std::uint64_t index, std::uint64_t claimed, bool last, std::uint64_t& ticket) noexcept {
    using Memory = trace::SharedMemory;
    trace::BlockHeader* block = ring_.block(index);
    const std::uint64_t state = Memory::load_acquire(block->state);
    ticket = trace::ticket_of(state);
    if (ticket == 0 || done_[index] == ticket) return Due::no;
    if (trace::state_of(state) == trace::BlockState::sealed) return Due::yes;
    if (trace::state_of(state) == trace::BlockState::writing) return Due::waits;
    const bool old = last || (ticket <= claimed && claimed - ticket > ring_.header->block_count / 2);
    const bool sealed = old && Memory::exchange_if(block->state, state, block_state(ticket, trace::BlockState::sealed));
    return sealed ? Due::yes : Due::waits;
  }

  trace::Ring ring_;
  std::uint64_t* done_ = nullptr;  // by block: the last ticket taken
  std::uint64_t next_ = 1;         // the first ticket that waits or was not seen yet
};

}  // namespace agent
