// Which arrows have both ends, known before the first is drawn; and an id for each that no other arrow of the output
// has. Filled by a first pass over the events, asked in the same order by a second.
//
// Memory: 72 bytes for each run of 64 neighbouring ids in which an end occurs, so about one byte per launch with
// CUPTI's dense correlation ids, and at worst 72 per end; 100 more for an id that is used again, 50 more for a launch
// of several works (a CUDA graph).
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace cli {

enum class ArrowStart : std::uint8_t {
  flow,     // an "s" of the input: each opens an arrow of its own
  runtime,  // a runtime call: the outermost call, where the arrow begins
  driver,   // a driver call: the arrow begins here when no runtime call has the same id
};

class ArrowTable {
 public:
  // A group is a space of ids: the correlations of one process, or one category of its flows.
  using Group = std::uint32_t;

  // First pass.
  void note_start(Group group, std::uint64_t id, ArrowStart role);
  void note_end(Group group, std::uint64_t id);

  // Second pass. The id of the arrow that begins here, or 0: it has no end, or begins elsewhere.
  std::uint64_t start(Group group, std::uint64_t id, ArrowStart role);

  struct End {
    std::uint64_t arrow = 0;  // 0: it has no start
    bool started = false;     // false: its start comes later in time
  };
  End end(Group group, std::uint64_t id);
  // How many ends an arrow has, for formats that draw each as one of its own. 1 or more.
  std::uint64_t ends(std::uint64_t arrow) const;

 private:
  // Of one arrow. kDrawn belongs to the second pass.
  enum Bit : unsigned { kRuntime, kOtherStart, kEnded, kDrawn, kReused, kBits };
  using State = std::uint8_t;
  static constexpr State bit(Bit b) { return static_cast<State>(1u << b); }

  struct Run {
    std::uint64_t id_high;
    Group group;
    std::array<std::uint64_t, kBits> bits;  // per Bit, one for each of 64 ids
  };
  // An id that is used for one arrow after the other (flow ids of some writers; correlations after 2^32 launches).
  struct Reuse {
    struct Arrow {
      State state;
      std::uint64_t extra;  // the arrow's id is after those of the runs, at this place; the first arrow keeps its own
    };
    std::vector<Arrow> arrows;
    std::size_t current = 0;  // in the second pass
    State live = 0;           // in the second pass: what has been seen of the current arrow
  };
  struct Place {
    std::size_t run;
    unsigned shift;
  };

  static bool begins_another(State seen, ArrowStart role);
  static State start_bit(ArrowStart role);
  static bool begins_here(State all, ArrowStart role);
  Place place(Group group, std::uint64_t id, bool make);
  State state(Place place) const;
  void set(Place place, State bits);
  std::size_t find_slot(Group group, std::uint64_t id_high) const;
  void grow_slots();
  Reuse& reuse(Place place) { return reused_.at(key(place)); }
  Reuse::Arrow& newest(Place place) { return reuse(place).arrows.back(); }
  static std::uint64_t key(Place place) { return place.run * 64 + place.shift; }
  std::uint64_t arrow_id(Place place, const Reuse& reuse) const;
  void note_another_end(std::uint64_t place_key, bool extra) { ++more_ends_[place_key << 1 | (extra ? 1u : 0u)]; }
  std::uint64_t start_reused(Place place, ArrowStart role);
  End end_reused(Place place);

  std::deque<Run> runs_;
  std::vector<std::uint32_t> slots_;  // open addressing: index in runs_ + 1; 0 is free
  std::size_t last_ = 0;              // the run of the last question
  std::unordered_map<std::uint64_t, Reuse> reused_;
  std::uint64_t extra_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> more_ends_;  // beyond the first, by key, or extra number, << 1
};

}  // namespace cli
