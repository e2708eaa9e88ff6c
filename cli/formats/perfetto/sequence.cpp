#include "cli/formats/perfetto/sequence.h"

#include <protozero/varint.hpp>

namespace cli::perfetto {

void EventPackets::open(Sequence& sequence, std::uint64_t track_uuid, std::int64_t origin_ns) {
  head_.clear();
  Writer out(head_);
  out.add_uint32(packet::sequence, sequence.id);
  out.add_uint32(packet::sequence_flags, packet::state_cleared);
  out.add_bool(packet::first_on_sequence, true);
  {
    Writer snapshot(out, packet::clock_snapshot);
    {
      Writer clock(snapshot, snapshot::clocks);
      clock.add_uint32(snapshot::clock_id, snapshot::sequence_clock);
      clock.add_uint64(snapshot::timestamp, 0);
      clock.add_bool(snapshot::is_incremental, true);
    }
    Writer wall(snapshot, snapshot::clocks);
    wall.add_uint32(snapshot::clock_id, snapshot::realtime);
    wall.add_uint64(snapshot::timestamp, wall_clock(origin_ns));
  }
  {
    Writer defaults(out, packet::defaults);
    defaults.add_uint32(defaults::clock, snapshot::sequence_clock);
    if (track_uuid != 0) {
      Writer event(defaults, defaults::track_event);
      event.add_uint64(defaults::track_uuid, track_uuid);
    }
  }
  sequence.now_ns = origin_ns;
  stream_.packet(head_.view());
}

void EventPackets::finish(Sequence& sequence, std::int64_t ns, Field field) {
  head_.clear();
  Writer out(head_);
  out.add_uint64(packet::timestamp, static_cast<std::uint64_t>(ns) - static_cast<std::uint64_t>(sequence.now_ns));
  out.add_uint32(packet::sequence, sequence.id);
  sequence.now_ns = ns;
  if (!interned_.empty()) out.add_message(packet::interned_data, interned_.view().data(), interned_.size());
  protozero::add_varint_to_buffer(&head_, std::uint64_t{field} << 3 | 2);
  protozero::add_varint_to_buffer(&head_, event_.size());
  stream_.packet(head_.view(), event_.view());
}

void EventPackets::define(Field field, std::uint32_t iid, std::string_view text) {
  Writer out(interned_);
  Writer entry(out, field);
  entry.add_uint64(interned::iid, iid);
  entry.add_string(interned::text, text.data(), text.size());
}

}  // namespace cli::perfetto
