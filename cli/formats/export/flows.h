// Flows from a launch to its work and between ranks: finds the flows that have both endpoints and gives them ids.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>
#include <vector>

#include "cli/formats/export/exporter.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/trace/event_times.h"
#include "cli/trace/payload.h"

namespace cli {

// Finds flows with both endpoints before the first one is written, and gives each a unique id in the output. The first
// pass over the events fills the table; the second queries it in the same order.
//
// Memory: 72 bytes for each block of 64 neighbouring ids with an endpoint, so about one byte per launch with CUPTI's
// dense correlation ids, and at worst 72 bytes per endpoint. In addition 100 bytes for a reused id and 50 for a launch
// of several works (a CUDA graph).
enum class FlowStart : std::uint8_t {
  event,    // an "s" in the input; each begins its own flow
  runtime,  // a runtime call: the outermost call, at which the flow begins
  driver,   // a driver call: the flow begins here if no runtime call has the same id
};

class FlowTable {
 public:
  // An id space: the correlations of one process, or one category of its flows.
  using Group = std::uint32_t;

  // First pass.
  void note_start(Group group, std::uint64_t id, FlowStart role);
  void note_end(Group group, std::uint64_t id);

  // Second pass. Returns the id of the flow that begins here; 0 if it has no end or begins elsewhere.
  std::uint64_t start(Group group, std::uint64_t id, FlowStart role);

  struct End {
    std::uint64_t flow_id = 0;  // 0 if it has no start
    bool started = false;       // false if its start is later
  };
  End end(Group group, std::uint64_t id);
  // Returns the number of ends of a flow, at least 1, for formats that write each as a separate flow.
  std::uint64_t ends(std::uint64_t flow_id) const;

 private:
  // State bits of one flow. kDrawn is used in the second pass.
  enum Bit : unsigned { kRuntime, kOtherStart, kEnded, kDrawn, kReused, kBits };
  using State = std::uint8_t;
  static constexpr State bit(Bit b) { return static_cast<State>(1u << b); }

  struct Block {
    std::uint64_t id_high;
    Group group;
    std::array<std::uint64_t, kBits> bits;  // by Bit, one bit for each of 64 ids
  };
  // An id used for several flows in sequence (flow ids of some writers; correlations after 2^32 launches).
  struct Reuse {
    struct Flow {
      State state;
      std::uint64_t extra;  // position of the flow's id after those of the blocks; the first flow keeps its own
    };
    std::vector<Flow> flows;
    std::size_t current = 0;  // in the second pass
    State live = 0;           // in the second pass: endpoints seen of the current flow
  };
  struct Position {
    Block* block = nullptr;  // null if the id has no start and no end
    std::uint64_t key = 0;   // index of the block * 64 + shift
    unsigned shift = 0;
  };
  // A block is looked up repeatedly, first for starts and later for ends.
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
    for (unsigned b = 0; b < kBits; ++b)
      result |= static_cast<State>((position.block->bits[b] >> position.shift & 1) << b);
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

  std::deque<Block> blocks_;               // addresses are stable
  std::vector<std::uint32_t> slots_;       // open addressing: index in blocks_ + 1; 0 is free
  std::vector<std::array<Last, 2>> last_;  // by group and Side: the last query
  std::unordered_map<std::uint64_t, Reuse> reused_;
  std::uint64_t extra_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> more_ends_;  // beyond the first, by key, or extra number, << 1
};

// Flows between ranks: from the kernel of the last rank to start a collective to the kernels of the others that were
// running and waiting for it. With n ranks there are at most n - 1 flows.
//
// Memory: 9 bytes for each collective.
class CollectiveFlows {
 public:
  explicit CollectiveFlows(const Catalog& catalog) : catalog_(catalog), next_(catalog.processes.size()) {}

  // Sets the collectives; without them there are no flows. `joined` has to outlive this.
  void join(const JoinedCollectives& joined);

  // First pass: called for every event, then end_prepare().
  void prepare(const Event& event);
  void end_prepare() { std::fill(next_.begin(), next_.end(), 0); }

  struct Flow {
    std::uint64_t id = 0;  // the collective
    bool starts = false;   // begins at the start of this slice; otherwise ends in this slice
    // Time of the endpoint; an end is just after the start of the last rank, so that sorting by time keeps the start
    // first
    std::int64_t at_ns = 0;
    std::uint32_t ends = 0;  // at the start: number of ends
    std::uint32_t pair = 0;  // at an end: its index
  };
  // Second pass, for each slice: calls draw(Flow) for each flow that touches it.
  template <typename Draw>
  void draw(const Event& slice, ExportSummary& summary, Draw&& draw) {
    of_slice(slice, [&](const JoinedCall& call) {
      if (call.is_last) {
        if (started_[call.collective] && ends_[call.collective] > 0)
          draw(Flow{call.collective, true, call.start_ns, ends_[call.collective], 0});
      } else if (started_[call.collective] && runs_on(slice, call)) {
        draw(Flow{call.collective, false, call.last_start_ns + 1, 0, drawn_[call.collective]++});
        ++summary.collective_flows;
      } else {
        ++summary.unjoined_calls;
      }
    });
  }

 private:
  // Returns true if the call is still running when the last rank starts.
  static bool runs_on(const Event& slice, const JoinedCall& call) {
    return slice.duration_ns < 0 || slice_end(slice, call.last_start_ns) > call.last_start_ns + 1;
  }

  // Calls f(JoinedCall) for each call whose first GPU work is this slice; a kernel may belong to several calls.
  template <typename F>
  void of_slice(const Event& slice, F&& f) {
    if (joined_ == nullptr || !is_gpu_work(slice.kind)) return;
    const ProcessId process = catalog_.tracks[slice.track].process;
    const auto& calls = joined_->calls[process];
    std::size_t& next = next_[process];
    while (next < calls.size() && calls[next].start_ns < slice.start_ns) ++next;
    for (std::size_t i = next; i < calls.size() && calls[i].start_ns == slice.start_ns; ++i) {
      if (calls[i].track == slice.track && calls[i].name == slice.name) f(calls[i]);
    }
  }

  const Catalog& catalog_;
  const JoinedCollectives* joined_ = nullptr;
  std::vector<std::size_t> next_;            // by ProcessId: the first call not passed yet
  std::vector<bool> started_;                // by collective: the last rank's kernel is written
  std::vector<std::uint32_t> ends_, drawn_;  // by collective
};

// The part of flow handling that is independent of the output format: slices that have a flow by their correlation, the
// track of the slice of each flow event, and the matching of starts and ends (FlowTable).
//
// Flow events are separate from their slices. A format holds those of one instant until all events of the instant are
// known. Each is bound to the slice that starts there on its track (if there are several, to the one with its
// correlation), otherwise to the slice that is open there.
//
// Memory: FlowTable; the flow events of one instant.
class FlowPlan {
 public:
  static constexpr TrackId kNoTrack = 0xffffffffu;

  explicit FlowPlan(const Catalog& catalog);
  // Sets a function that returns false for flow events, with the track of their slice, that cannot be written there. It
  // is called in both passes, in the same order.
  void refuse_unless(std::function<bool(const Event& flow, TrackId track)> takes) { takes_ = std::move(takes); }
  bool refused(const Event& flow, TrackId track) const { return takes_ && !takes_(flow, track); }

  // First pass: called for every event, then end_prepare().
  void prepare(const Event& event, const Facts& facts = {});
  void end_prepare();

  ProcessId process(const Event& event) const { return catalog_->tracks[event.track].process; }
  // Returns true if flows at this slice are derived from its correlation.
  bool by_correlation(const Event& event) const {
    return event.correlation != 0 && !catalog_->processes[process(event)].explicit_flows;
  }
  // Returns the correlation of the call whose flow ends at this slice: for GPU work its own, for a wait that of the
  // call that recorded its CUDA event. 0 if there is none.
  std::uint64_t call_of_flow_end(const Event& event, const Facts& facts) const;
  bool has_flows() const { return has_any_flows_; }
  bool has_flows(ProcessId process) const { return has_flows_[process]; }

  // Second pass. reach() is called for each slice of a process with flows. Then the functions below query FlowTable,
  // for a slice that is by_correlation() or for a flow event.
  void reach(const Event& slice);
  std::uint64_t start(const Event& event);
  FlowTable::End end(const Event& flow);
  FlowTable::End end(const Event& slice, std::uint64_t call) { return table_.end(process(slice), call); }
  std::uint64_t ends(std::uint64_t flow_id) const { return table_.ends(flow_id); }

  void hold(const Event& flow) { held_.push_back(flow); }
  // Calls draw() for each held flow event, starts first, with the track of its slice (kNoTrack if there is none).
  template <typename Draw>
  void release(Draw&& draw) {
    starts_first();
    for (const Event& flow : held_) draw(flow, track_of(flow));
    held_.clear();
  }
  // Returns the kind of flow of a flow event.
  static StringId category(const Event& flow) { return flow.category != 0 ? flow.category : flow.name; }

 private:
  void find_twins();
  TrackId track_of(const Event& flow) const;
  void starts_first();
  void note(const Event& event);
  void end_instant();
  FlowTable::Group group(const Event& event);

  const Catalog* catalog_;
  std::function<bool(const Event&, TrackId)> takes_;
  FlowTable table_;
  std::unordered_map<std::uint64_t, FlowTable::Group> groups_;  // of flows, by process and category
  std::vector<std::int64_t> reach_;                             // by track: the latest end of a slice so far
  // By track: the thread or stream with the same ids; flow events in Kineto's files do not distinguish them
  std::vector<TrackId> twins_;
  std::vector<bool> has_flows_;  // by process
  std::vector<Event> held_;      // flow events of one instant
  std::int64_t now_ns_ = 0;
  bool has_any_flows_ = false;
};

}  // namespace cli
