// A packet sequence: the events of one track, ordered by time. Its clock is incremental, so a time has two or three
// bytes. Interned data is defined in the first packet that uses it.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/base/output_file.h"
#include "cli/base/threads.h"
#include "cli/formats/export/exporter.h"
#include "cli/formats/perfetto/proto.h"

namespace cli::perfetto {

// Writes the file: packets in chunks of about a MiB, which a second thread compresses. Readers treat the packets of a
// chunk like uncompressed ones. Only the calling thread writes to the sink. One thread at a time. Memory: two chunks.
class PacketStream {
 public:
  PacketStream(ByteSink& sink, PacketCompression compression);
  ~PacketStream();

  // Appends a packet whose fields are `body` and then `more`.
  void packet(std::string_view body, std::string_view more = {});
  // Writes the rest; the caller finishes the sink. Throws Error, as packet() does.
  void finish();
  // Returns the bytes that the sink would have received by now without chunks and their compression, minus those it has
  // received.
  std::uint64_t pending_bytes() const { return made_bytes_ + chunk_.size() - std::min(sunk_bytes_, made_bytes_); }

 private:
  class Compressor;
  void flush();
  void land();

  ByteSink& sink_;
  Buffer chunk_;
  std::uint64_t made_bytes_ = 0, sunk_bytes_ = 0;  // bytes of chunks: uncompressed; passed to the sink
  Buffer in_flight_;                               // the chunk that is being compressed
  std::unique_ptr<Compressor> compressor_;         // null if chunks are written uncompressed
  std::optional<Background> background_;           // last member, because its thread uses the others
};

// The ids that a sequence has defined: one bit each, in pages allocated on demand.
class IdSet {
 public:
  // Returns false if the id was already in the set.
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

// An open slice, and the flows found to touch it so far.
struct OpenSlice {
  std::int64_t start_ns, end_ns;
  std::vector<std::uint64_t> flows;
};

// Returns the wall clock at the origin. Perfetto drops packets with times before 1970, so such a trace begins at 0.
inline std::uint64_t wall_clock(std::int64_t origin_ns) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(origin_ns, 0));
}

struct Sequence {
  std::uint32_t id = 0;
  std::int64_t now_ns = 0;  // of the last packet
  IdSet categories, names, keys, values, members, fragments;
  std::vector<OpenSlice> open;  // outermost first
};

// Writes packets of events. All sequences share the scratch space.
class EventPackets {
 public:
  explicit EventPackets(PacketStream& stream) : stream_(stream) {}

  // Writes the first packet of a sequence: its clock begins at `origin_ns` of the wall clock, and its events belong to
  // `track_uuid` (0 if they have no track).
  void open(Sequence& sequence, std::uint64_t track_uuid, std::int64_t origin_ns);

  // A packet is made by start(), fields added to event() and interned(), and finish().
  void start() {
    event_.clear();
    interned_.clear();
  }
  Buffer& event() { return event_; }
  Buffer& interned() { return interned_; }
  // `ns` is not before the last packet of the sequence.
  void finish(Sequence& sequence, std::int64_t ns, Field field = packet::track_event);

  // Adds an interned {iid, text}.
  void define(Field field, std::uint32_t iid, std::string_view text);

 private:
  PacketStream& stream_;
  Buffer event_, interned_, head_;
};

}  // namespace cli::perfetto
