// Counters: those of the input, of which each numeric member of an event's arguments is a track, and the computed ones.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "cli/formats/perfetto/sequence.h"
#include "cli/formats/perfetto/tracks.h"

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
