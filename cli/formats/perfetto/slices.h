// Writes slices and instants to sequences.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cli/formats/export/shared_json.h"
#include "cli/formats/perfetto/arguments.h"
#include "cli/formats/perfetto/sequence.h"
#include "cli/formats/perfetto/slice_flows.h"
#include "cli/formats/perfetto/tracks.h"
#include "cli/formats/perfetto/vocabulary.h"

// Writes counters: those of the input, with a track for each numeric member of an event's arguments, and derived ones.
namespace cli::perfetto {

class Counters {
 public:
  // Adds sequences to `sequences`, whose clocks begin at `origin_ns`.
  Counters(const Catalog& catalog, EventPackets& packets, Tracks& tracks, std::deque<Sequence>& sequences)
      : catalog_(catalog), packets_(packets), tracks_(tracks), sequences_(sequences) {}

  void origin(std::int64_t ns) { origin_ns_ = ns; }
  // Returns false if the arguments contain no number.
  bool event(const Event& event, std::string_view args);
  void computed(const Derived& value);

 private:
  using Key = std::tuple<ProcessId, std::int64_t, std::string>;  // process, device, name
  Sequence& track(const Key& key, std::string_view unit, std::size_t order);
  void write(double value, std::int64_t ns, Sequence& sequence);

  const Catalog& catalog_;
  EventPackets& packets_;
  Tracks& tracks_;
  std::deque<Sequence>& sequences_;
  std::map<Key, Sequence*> by_key_;
  std::int64_t origin_ns_ = 0;
};

// The events of one instant. They are held until all flow events of the instant are known, because only then it is
// known which slices have flows. Memory: one instant.
class Moment {
 public:
  void add(const Event& event, std::string_view args, const FlowIds& flows) {
    if (used_ == events_.size()) events_.emplace_back();
    Held& held = events_[used_++];
    held.event = event;
    held.args = args_.size();
    held.args_length = args.size();
    held.flows = flows;
    held.taken = false;
    args_ += args;
  }

  struct Held {
    Event event;
    std::size_t args = 0, args_length = 0;
    FlowIds flows;
    bool taken = false;  // used by StageEnds
  };
  // Returns the slice of a flow event on `track`; null if none starts now.
  Held* find(const Event& flow, TrackId track);

  // Calls write() with each event, its arguments and the ids of its flows, and clears the instant.
  template <typename Write>
  void write(Write&& write) {
    for (std::size_t i = 0; i < used_; ++i) {
      Held& held = events_[i];
      write(held.event, std::string_view(args_).substr(held.args, held.args_length), held.flows);
    }
    clear();
  }
  void clear() {
    used_ = 0;
    args_.clear();
  }

 private:
  std::vector<Held> events_;  // the first used_ count; the others are kept for reuse
  std::size_t used_ = 0;
  std::string args_;
};

class Slices {
 public:
  Slices(EventPackets& packets, Vocabulary& vocabulary)
      : packets_(packets), vocabulary_(vocabulary), arguments_(kAnnotations, packets) {}

  // Writes flows twice from now on: flows to render stages have a separate field, and the end of a flow is not known
  // yet.
  void submit_stages() { submits_ = true; }

  // `flows` contains the ids of its flows; those in `at_end` come from slices that start later.
  void begin(const Event& event, std::int64_t end_ns, SaidArgs args, const FlowIds& flows, const FlowIds& at_end,
             Sequence& sequence);
  void instant(const Event& event, SaidArgs args, Sequence& sequence);
  // Ends the slices that end by `ns`, innermost first.
  void end_until(std::int64_t ns, Sequence& sequence);
  // Writes a slice of a derived track.
  void computed(const Derived& slice, const DerivedText& said, Sequence& sequence);

 private:
  void head(std::uint32_t type, const Event& event, Sequence& sequence);
  void arguments(const Event& event, SaidArgs args, Sequence& sequence);
  void put_flows(const FlowIds& flows);
  void put_submissions(const FlowIds& flows);

  EventPackets& packets_;
  Vocabulary& vocabulary_;
  Arguments arguments_;
  bool submits_ = false;
};

}  // namespace cli::perfetto
