#include "cli/formats/perfetto/sequence.h"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

#include <protozero/varint.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/base/error.h"
#include "cli/base/zstd_codec.h"
#include "cli/formats/perfetto/proto.h"

namespace cli::perfetto {
namespace {

constexpr std::size_t kChunkBytes = 1 << 20;
constexpr int kZstdLevel = 3;
constexpr char kPacketTag = static_cast<char>(trace::packet << 3 | 2);

void open_packet(Buffer& out, std::size_t length) {
  out.push_back(kPacketTag);
  protozero::add_varint_to_buffer(&out, length);
}

}  // namespace

// Compresses a chunk into one packet.
class PacketStream::Compressor {
 public:
  explicit Compressor(bool zstd) : field_(zstd ? packet::zstd_compressed_packets : packet::compressed_packets) {
    if (zstd) zstd_.emplace(kZstdLevel);
  }

  void squeeze(std::string_view chunk) {
    if (zstd_) {
      zstd_->compress(chunk, squeezed_);
    } else {
      deflate(chunk);
    }
  }

  // Returns the number of these bytes.
  std::size_t write(ByteSink& sink) const {
    Buffer head, tag;
    protozero::add_varint_to_buffer(&tag, std::uint64_t{field_} << 3 | 2);
    protozero::add_varint_to_buffer(&tag, squeezed_.size());
    open_packet(head, tag.size() + squeezed_.size());
    head.append(tag.view().data(), tag.size());
    sink.write(head.view());
    sink.write(squeezed_);
    return head.size() + squeezed_.size();
  }

 private:
  // With zlib's header (RFC 1950), which Perfetto's reader requires.
  void deflate(std::string_view chunk) {
    isal_zstream stream;
    isal_deflate_stateless_init(&stream);
    squeezed_.resize(chunk.size() + chunk.size() / 64 + 1024);
    stream.gzip_flag = IGZIP_ZLIB;
    stream.level = 1;
    stream.level_buf = level_.data();
    stream.level_buf_size = static_cast<std::uint32_t>(level_.size());
    stream.end_of_stream = 1;
    stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(chunk.data()));
    stream.avail_in = static_cast<std::uint32_t>(chunk.size());
    stream.next_out = reinterpret_cast<std::uint8_t*>(squeezed_.data());
    stream.avail_out = static_cast<std::uint32_t>(squeezed_.size());
    const int result = isal_deflate_stateless(&stream);
    if (result != COMP_OK) throw Error(Exit::cannot_open, fmt::format("deflate: the compressor failed ({})", result));
    squeezed_.resize(squeezed_.size() - stream.avail_out);
  }

  Field field_;
  std::optional<ZstdCompressor> zstd_;
  std::vector<std::uint8_t> level_ = std::vector<std::uint8_t>(ISAL_DEF_LVL1_DEFAULT);
  std::string squeezed_;
};

PacketStream::PacketStream(ByteSink& sink, PacketCompression compression) : sink_(sink) {
  if (compression == PacketCompression::none) return;
  compressor_ = std::make_unique<Compressor>(compression == PacketCompression::zstd);
  background_.emplace();
}

PacketStream::~PacketStream() = default;

void PacketStream::packet(std::string_view body, std::string_view more) {
  open_packet(chunk_, body.size() + more.size());
  chunk_.append(body.data(), body.size());
  chunk_.append(more.data(), more.size());
  if (chunk_.size() >= kChunkBytes) flush();
}

void PacketStream::flush() {
  made_bytes_ += chunk_.size();
  if (!compressor_) {
    sink_.write(chunk_.view());
    sunk_bytes_ += chunk_.size();
    return chunk_.clear();
  }
  land();
  std::swap(in_flight_, chunk_);
  background_->run([this] { compressor_->squeeze(in_flight_.view()); });
}

void PacketStream::land() {
  if (in_flight_.empty()) return;
  background_->wait();
  sunk_bytes_ += compressor_->write(sink_);
  in_flight_.clear();
}

void PacketStream::finish() {
  if (!chunk_.empty()) flush();
  land();
}

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
