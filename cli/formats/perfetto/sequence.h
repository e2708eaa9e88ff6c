// One packet sequence: the events of one track, in the order of time. Its clock counts on from packet to packet, so a
// time is two or three bytes; what it interns is known to its reader from the packet that first uses it.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/base/threads.h"
#include "cli/base/output_file.h"
#include "cli/formats/export/exporter.h"
#include "cli/formats/perfetto/proto.h"

namespace cli::perfetto {

// The file: packets one behind the other, in chunks of about a MiB that are compressed on a second thread. Readers take
// a chunk's packets as if they stood there themselves. The sink is written to by the caller's thread alone. One thread
// at a time; memory: two chunks.
class PacketStream {
 public:
  PacketStream(ByteSink& sink, PacketCompression compression);
  ~PacketStream();

  // Appends a packet whose fields are `body` and then `more`.
  void packet(std::string_view body, std::string_view more = {});
  // Writes what is left; the caller finishes the sink. Throws Error, as packet() does.
  void finish();
  // What the sink would have got by now without chunks and their compression, less what it has.
  std::uint64_t pending_bytes() const { return made_bytes_ + chunk_.size() - std::min(sunk_bytes_, made_bytes_); }

 private:
  class Compressor;
  void flush();
  void land();

  ByteSink& sink_;
  Buffer chunk_;
  std::uint64_t made_bytes_ = 0, sunk_bytes_ = 0;  // of chunks: before compression; what the sink has
  Buffer in_flight_;                        // the chunk that is being compressed
  std::unique_ptr<Compressor> compressor_;  // none: chunks go to the sink as they are
  std::optional<Background> background_;    // last: it uses the others
};

}  // namespace cli::perfetto

// Which numbers a sequence has been told the meaning of: a bit each, in pages that are made when they are needed.
namespace cli::perfetto {

class IdSet {
 public:
  // False: it was there.
  bool insert(std::uint32_t id) {
    const std::size_t page = id / kPageBits;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique<Page>();
    std::uint64_t& word = (*pages_[page])[id % kPageBits / 64];
    const std::uint64_t bit = std::uint64_t{1} << id % 64;
    if ((word & bit) != 0) return false;
    word |= bit;
    return true;
  }

 private:
  static constexpr std::size_t kPageBits = 512;
  using Page = std::array<std::uint64_t, kPageBits / 64>;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace cli::perfetto

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
