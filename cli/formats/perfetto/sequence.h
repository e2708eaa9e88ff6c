// One packet sequence: the events of one track, in the order of time. Its clock counts on from packet to packet, so a
// time is two or three bytes; what it interns is known to its reader from the packet that first uses it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cli/formats/perfetto/fields.h"
#include "cli/formats/perfetto/id_set.h"
#include "cli/formats/perfetto/packet_stream.h"

namespace cli::perfetto {

// A slice that has begun, and the flows that were found to touch it since.
struct OpenSlice {
  std::int64_t start_ns, end_ns;
  std::vector<std::uint64_t> flows;
};

// What the wall clock says at the origin. Perfetto drops packets of times before 1970: a trace that begins there begins at 0.
inline std::uint64_t wall_clock(std::int64_t origin_ns) { return static_cast<std::uint64_t>(std::max<std::int64_t>(origin_ns, 0)); }

struct Sequence {
  std::uint32_t id = 0;
  std::int64_t now_ns = 0;  // of the last packet
  IdSet categories, names, keys, values, members, fragments;
  std::vector<OpenSlice> open;  // outermost first
};

// Writes packets of events. Scratch space is shared by all sequences.
class EventPackets {
 public:
  explicit EventPackets(PacketStream& stream) : stream_(stream) {}

  // The first packet of a sequence: its clock begins at `origin_ns` of the wall clock, its events are of `track_uuid`
  // (0: they name no track).
  void open(Sequence& sequence, std::uint64_t track_uuid, std::int64_t origin_ns);

  // A packet is made so: start(), fields to event() and interned(), finish().
  void start() { event_.clear(); interned_.clear(); }
  Buffer& event() { return event_; }
  Buffer& interned() { return interned_; }
  // `ns` is not before the sequence's last packet.
  void finish(Sequence& sequence, std::int64_t ns, Field field = packet::track_event);

  // An interned {iid, text}.
  void define(Field field, std::uint32_t iid, std::string_view text);

 private:
  PacketStream& stream_;
  Buffer event_, interned_, head_;
};

}  // namespace cli::perfetto
