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

// The first byte of an entry has the action in its lower bits, and a bit for each of these members that is equal to that
// of the previous entry.
constexpr unsigned kActionBits = 4;
constexpr unsigned kSameAddress = 1 << 4, kSameBytes = 1 << 5, kSameStack = 1 << 6, kSameStream = 1 << 7;
static_assert(static_cast<unsigned>(Action::other) < 1 << kActionBits);

}  // namespace

// Stores only the members that have changed since the previous entry of the chunk. Addresses and times are stored as
// differences.
void History::add(const Entry& entry) {
  if (size_ % kChunk == 0) {
    if (!chunks_.empty()) chunks_.back().shrink_to_fit();
    chunks_.emplace_back();
    last_ = {};
  }
  const bool same_address = entry.address == last_.address, same_bytes = entry.bytes == last_.bytes,
             same_stack = entry.stack == last_.stack, same_stream = entry.stream == last_.stream;
  std::string& out = chunks_.back();
  out += static_cast<char>(static_cast<unsigned>(entry.action) | (same_address ? kSameAddress : 0) |
                           (same_bytes ? kSameBytes : 0) | (same_stack ? kSameStack : 0) |
                           (same_stream ? kSameStream : 0));
  const auto add = [&](std::uint64_t value) { protozero::add_varint_to_buffer(&out, value); };
  if (!same_address) add(difference(entry.address, last_.address));
  if (!same_bytes) add(entry.bytes);
  if (!same_stack) add(entry.stack);
  if (!same_stream) add(difference(entry.stream, last_.stream));
  add(difference(static_cast<std::uint64_t>(entry.time_us), static_cast<std::uint64_t>(last_.time_us)));
  last_ = entry;
  ++size_;
}

void History::decode(std::size_t chunk, std::vector<Entry>& entries) const {
  const char* at = chunks_[chunk].data();
  const char* const end = at + chunks_[chunk].size();
  const auto next = [&] { return protozero::decode_varint(&at, end); };
  entries.clear();
  Entry last;
  while (at != end) {
    const auto head = static_cast<unsigned char>(*at++);
    last.action = static_cast<Action>(head & ((1U << kActionBits) - 1));
    if ((head & kSameAddress) == 0) last.address = sum(last.address, next());
    if ((head & kSameBytes) == 0) last.bytes = next();
    if ((head & kSameStack) == 0) last.stack = static_cast<std::uint32_t>(next());
    if ((head & kSameStream) == 0) last.stream = sum(last.stream, next());
    last.time_us = static_cast<std::int64_t>(sum(static_cast<std::uint64_t>(last.time_us), next()));
    entries.push_back(last);
  }
}

}  // namespace cli::snapshot
