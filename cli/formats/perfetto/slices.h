// Slices and instants on sequences.
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

// Counters: those of the input, of which each numeric member of an event's arguments is a track, and the computed ones.
namespace cli::perfetto {

class Counters {
 public:
  // Takes sequences from `sequences`, whose clocks begin at `origin_ns`.
  Counters(const Catalog& catalog, EventPackets& packets, Tracks& tracks, std::deque<Sequence>& sequences)
      : catalog_(catalog), packets_(packets), tracks_(tracks), sequences_(sequences) {}

  void origin(std::int64_t ns) { origin_ns_ = ns; }
  // False: there is no number among the arguments.
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

}  // namespace cli::perfetto

namespace cli::perfetto {

// The events of one instant, kept until all of its flow events are known: only then is it clear which slices flows
// touch. Memory: one instant.
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
    bool taken = false;  // for StageEnds
  };
  // The slice that a flow event on `track` belongs to; null: none starts now.
  Held* find(const Event& flow, TrackId track);

  // Each event, its arguments and the ids of its flows; then the moment is empty.
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
  std::vector<Held> events_;  // the first used_ count; the rest is room that is kept
  std::size_t used_ = 0;
  std::string args_;
};

}  // namespace cli::perfetto

namespace cli::perfetto {

class Slices {
 public:
  Slices(EventPackets& packets, Vocabulary& vocabulary)
      : packets_(packets), vocabulary_(vocabulary), arguments_(kAnnotations, packets) {}

  // From now on slices name their flows twice: those to render stages have a field of their own, and where a flow
  // ends is not known yet.
  void submit_stages() { submits_ = true; }

  // `flows` are the ids of its flows; those of `at_end` come from slices that start later.
  void begin(const Event& event, std::int64_t end_ns, SaidArgs args, const FlowIds& flows, const FlowIds& at_end, Sequence& sequence);
  void instant(const Event& event, SaidArgs args, Sequence& sequence);
  // Ends what has ended by `ns`, the innermost first.
  void end_until(std::int64_t ns, Sequence& sequence);
  // A slice of a computed track.
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
