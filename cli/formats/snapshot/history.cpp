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

// A head byte has the action in its lower bits, and a bit for each member that is equal to that of the entry before.
constexpr unsigned kActionBits = 4;
constexpr unsigned kSameAddress = 1 << 4, kSameBytes = 1 << 5, kSameTime = 1 << 6, kSameStack = 1 << 7;
// A head byte that precedes a change of the stream, which is rare.
constexpr unsigned kStreamChange = (1U << kActionBits) - 1;
static_assert(static_cast<unsigned>(Action::other) < kStreamChange);

}  // namespace

// Stores the members that differ from those of the previous entry in the chunk: addresses and times as differences.
void History::add(const Entry& entry) {
  if (size_ % kChunk == 0) {
    if (!chunks_.empty()) chunks_.back().shrink_to_fit();
    chunks_.emplace_back();
    last_ = {};
  }
  std::string& out = chunks_.back();
  if (entry.stream != last_.stream) {
    out += static_cast<char>(kStreamChange);
    protozero::add_varint_to_buffer(&out, difference(entry.stream, last_.stream));
  }
  const std::size_t head_at = out.size();
  auto head = static_cast<unsigned>(entry.action);
  out += '\0';
  const auto add = [&](bool is_same, unsigned bit, std::uint64_t value) {
    is_same ? void(head |= bit) : protozero::add_varint_to_buffer(&out, value);
  };
  add(entry.address == last_.address, kSameAddress, difference(entry.address, last_.address));
  add(entry.bytes == last_.bytes, kSameBytes, entry.bytes);
  add(entry.time_us == last_.time_us, kSameTime,
      difference(static_cast<std::uint64_t>(entry.time_us), static_cast<std::uint64_t>(last_.time_us)));
  add(entry.stack == last_.stack, kSameStack, entry.stack);
  out[head_at] = static_cast<char>(head);
  last_ = entry;
  ++size_;
}

void History::decode(std::size_t chunk, std::vector<Entry>& entries) const {
  const char* at = chunks_[chunk].data();
  const char* const end = at + chunks_[chunk].size();
  entries.clear();
  Entry last;
  while (at != end) {
    const auto head = static_cast<unsigned char>(*at++);
    if (head == kStreamChange) {
      last.stream = sum(last.stream, protozero::decode_varint(&at, end));
      continue;
    }
    last.action = static_cast<Action>(head & ((1U << kActionBits) - 1));
    if ((head & kSameAddress) == 0) last.address = sum(last.address, protozero::decode_varint(&at, end));
    if ((head & kSameBytes) == 0) last.bytes = protozero::decode_varint(&at, end);
    if ((head & kSameTime) == 0) {
      last.time_us =
          static_cast<std::int64_t>(sum(static_cast<std::uint64_t>(last.time_us), protozero::decode_varint(&at, end)));
    }
    if ((head & kSameStack) == 0) last.stack = static_cast<std::uint32_t>(protozero::decode_varint(&at, end));
    entries.push_back(last);
  }
}

}  // namespace cli::snapshot
