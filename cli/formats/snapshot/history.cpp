#include <protozero/buffer_string.hpp>
#include <protozero/varint.hpp>

#include "cli/formats/snapshot/snapshot.h"

namespace cli::snapshot {
namespace {

std::uint64_t difference(std::uint64_t value, std::uint64_t before) {
  return protozero::encode_zigzag64(static_cast<std::int64_t>(value - before));
}
std::uint64_t sum(std::uint64_t before, std::uint64_t coded) {
  return before + static_cast<std::uint64_t>(protozero::decode_zigzag64(coded));
}

}  // namespace

// Stores addresses, streams and times as differences from the previous entry in the chunk.
void History::add(const Entry& entry) {
  if (size_ % kChunk == 0) {
    if (!chunks_.empty()) chunks_.back().shrink_to_fit();
    chunks_.emplace_back();
    last_ = {};
  }
  std::string& out = chunks_.back();
  out += static_cast<char>(entry.action);
  for (const std::uint64_t value :
       {difference(entry.address, last_.address), entry.bytes,
        difference(static_cast<std::uint64_t>(entry.time_us), static_cast<std::uint64_t>(last_.time_us)),
        difference(entry.stream, last_.stream), std::uint64_t{entry.stack}}) {
    protozero::add_varint_to_buffer(&out, value);
  }
  last_ = entry;
  ++size_;
}

void History::decode(std::size_t chunk, std::vector<Entry>& entries) const {
  const char* at = chunks_[chunk].data();
  const char* const end = at + chunks_[chunk].size();
  entries.clear();
  Entry last;
  while (at != end) {
    last.action = static_cast<Action>(*at++);
    last.address = sum(last.address, protozero::decode_varint(&at, end));
    last.bytes = protozero::decode_varint(&at, end);
    last.time_us =
        static_cast<std::int64_t>(sum(static_cast<std::uint64_t>(last.time_us), protozero::decode_varint(&at, end)));
    last.stream = sum(last.stream, protozero::decode_varint(&at, end));
    last.stack = static_cast<std::uint32_t>(protozero::decode_varint(&at, end));
    entries.push_back(last);
  }
}

}  // namespace cli::snapshot
