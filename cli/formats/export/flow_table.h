// Which flows have both ends, known before the first is written; and an id for each that no other flow of the output
// has. Filled by a first pass over the events, asked in the same order by a second.
//
// Memory: 72 bytes for each block of 64 neighbouring ids in which an end occurs, so about one byte per launch with
// CUPTI's dense correlation ids, and at worst 72 per end; 100 more for an id that is used again, 50 more for a launch
// of several works (a CUDA graph).
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace cli {

enum class FlowStart : std::uint8_t {
  event,    // an "s" of the input: each opens a flow of its own
  runtime,  // a runtime call: the outermost call, where the flow begins
  driver,   // a driver call: the flow begins here when no runtime call has the same id
};

class FlowTable {
 public:
  // A group is a space of ids: the correlations of one process, or one category of its flows.
  using Group = std::uint32_t;

  // First pass.
  void note_start(Group group, std::uint64_t id, FlowStart role);
  void note_end(Group group, std::uint64_t id);

  // Second pass. The id of the flow that begins here, or 0: it has no end, or begins elsewhere.
  std::uint64_t start(Group group, std::uint64_t id, FlowStart role);

  struct End {
    std::uint64_t flow_id = 0;  // 0: it has no start
    bool started = false;     // false: its start comes later in time
  };
  End end(Group group, std::uint64_t id);
  // How many ends a flow has, for formats that draw each as one of its own. 1 or more.
  std::uint64_t ends(std::uint64_t flow_id) const;

 private:
  // Of one flow. kDrawn belongs to the second pass.
  enum Bit : unsigned { kRuntime, kOtherStart, kEnded, kDrawn, kReused, kBits };
  using State = std::uint8_t;
  static constexpr State bit(Bit b) { return static_cast<State>(1u << b); }

  struct Block {
    std::uint64_t id_high;
    Group group;
    std::array<std::uint64_t, kBits> bits;  // per Bit, one for each of 64 ids
  };
  // An id that is used for one flow after the other (flow ids of some writers; correlations after 2^32 launches).
  struct Reuse {
    struct Flow {
      State state;
      std::uint64_t extra;  // the flow's id is after those of the blocks, at this position; the first flow keeps its own
    };
    std::vector<Flow> flows;
    std::size_t current = 0;  // in the second pass
    State live = 0;           // in the second pass: what has been seen of the current flow
  };
  struct Position {
    Block* block = nullptr;  // null: the id has no start and no end
    std::uint64_t key = 0;  // index of the block * 64 + shift
    unsigned shift = 0;
  };
  // A block is asked for again and again, by the starts and later by the ends.
  enum Side : std::size_t { kStart, kEnd };
  struct Last {
    Block* block = nullptr;
    std::uint64_t index = 0;
  };

  static bool begins_another(State seen, FlowStart role);
  static Bit start_bit(FlowStart role) { return role == FlowStart::runtime ? kRuntime : kOtherStart; }
  static bool begins_here(State all, FlowStart role);
  Position position(Group group, std::uint64_t id, Side side, bool make) {
    if (group < last_.size()) {
      const Last& last = last_[group][side];
      if (last.block != nullptr && last.block->id_high == id / 64) return position(last, id);
    }
    return look_up(group, id, side, make);
  }
  static Position position(const Last& block, std::uint64_t id) {
    return {block.block, block.index * 64 + id % 64, static_cast<unsigned>(id % 64)};
  }
  Position look_up(Group group, std::uint64_t id, Side side, bool make);
  static State state(Position position) {
    State result = 0;
    for (unsigned b = 0; b < kBits; ++b) result |= static_cast<State>((position.block->bits[b] >> position.shift & 1) << b);
    return result;
  }
  static void set(Position position, Bit b) { position.block->bits[b] |= std::uint64_t{1} << position.shift; }
  std::size_t find_slot(Group group, std::uint64_t id_high) const;
  void grow_slots();
  Reuse& reuse(Position position) { return reused_.at(position.key); }
  Reuse::Flow& newest(Position position) { return reuse(position).flows.back(); }
  std::uint64_t id_of(Position position, const Reuse& reuse) const;
  void note_another_end(std::uint64_t position_key, bool extra) { ++more_ends_[position_key << 1 | (extra ? 1u : 0u)]; }
  std::uint64_t start_reused(Position position, FlowStart role);
  End end_reused(Position position);

  std::deque<Block> blocks_;  // which stay where they are
  std::vector<std::uint32_t> slots_;       // open addressing: index in blocks_ + 1; 0 is free
  std::vector<std::array<Last, 2>> last_;  // by group and Side: of the last question
  std::unordered_map<std::uint64_t, Reuse> reused_;
  std::uint64_t extra_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> more_ends_;  // beyond the first, by key, or extra number, << 1
};

}  // namespace cli
