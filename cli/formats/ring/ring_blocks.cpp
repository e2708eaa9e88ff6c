// The blocks of a recording in their order: those of the ring, and those that only its spool still has.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>
#include <set>

#include "cli/base/error.h"
#include "cli/formats/ring/ring_file.h"

namespace cli {
namespace {

void add_past(const trace::BlockHeader& block, std::uint64_t (&sums)[trace::kEventKinds]) {
  const std::uint64_t* past = block.overwritten[trace::overwritten_index(block.generation)];
  for (std::size_t kind = 0; kind < trace::kEventKinds; ++kind) sums[kind] += past[kind];
}

}  // namespace

// A spool that is missing or not this ring's costs what is in it, not the ring.
void RingFile::open_spool() {
  const std::string path = spool_of(path_);
  const bool expected = static_cast<trace::SourceState>(header_.spool_state) == trace::SourceState::on;
  if (path.empty() || access(path.c_str(), F_OK) != 0) {
    if (expected) spool_problem_ = fmt::format("the spool {} is missing: only the ring was read", path);
    return;
  }
  try {
    spool_ = std::make_unique<SpoolFile>(path, header_);
  } catch (const Error& error) {
    spool_problem_ = fmt::format("{}; only the ring was read", error.what());
  }
}

void RingFile::note_held(const std::vector<BlockPosition>& ring) {
  held_.assign(header_.block_count, 0);
  for (const BlockPosition& position : ring) held_[position.index] = position.ticket;
  if (spool_ == nullptr) return;
  const auto& spooled = spool_->positions();
  is_old_ = std::any_of(spooled.begin(), spooled.end(),
                        [&](const SpoolFile::ChunkPosition& position) { return held(position.ticket) < position.ticket; });
  has_gaps_ = has_gaps(ring);
}

// `counted`: the ring counts it as overwritten.
bool RingFile::read_spooled(const SpoolFile::ChunkPosition& position, bool counted, RingBlock& block) {
  trace::SpoolChunk chunk;
  if (!spool_->read(position, chunk, block.payload)) {
    ++damaged_chunks_;
    ++holes_;
    return false;
  }
  block.header = {};
  block.header.committed = chunk.payload_bytes;
  block.header.ticket = chunk.ticket;
  block.header.tid = chunk.tid;
  block.header.clock = chunk.clock;
  block.offset = position.offset;
  block.spooled = true;
  if (counted) trace::count_events(block.payload.data(), block.payload.size(), saved_);
  return true;
}

// `twin`: the same block in the spool, or null. The longer one counts.
bool RingFile::read_from_ring(const BlockPosition& position, const SpoolFile::ChunkPosition* twin, RingBlock& block) {
  block.spooled = false;
  const bool whole = copy_block(position, block);
  if (!whole) block.header = read_block_header(position.index);
  add_past(block.header, overwritten_);
  if (whole && (twin == nullptr || twin->payload_bytes <= block.payload.size())) return true;
  if (twin != nullptr) return read_spooled(*twin, !whole, block);
  ++changed_blocks_;
  ++holes_;
  return false;
}

// Whether blocks were overwritten before they were spooled, as far as this ring knows.
bool RingFile::has_gaps(const std::vector<BlockPosition>& ring) const {
  std::uint64_t past[trace::kEventKinds] = {}, saved = 0;
  for (const BlockPosition& position : ring) add_past(read_block_header(position.index), past);
  const std::uint64_t gone = std::accumulate(std::begin(past), std::end(past), std::uint64_t{0});
  for (const SpoolFile::ChunkPosition& position : spool_->positions()) {
    if (held(position.ticket) > position.ticket) saved += position.events;
  }
  return gone > saved;
}

// Between two blocks that follow each other. Where nothing was overwritten, a ticket that is missing was never a
// block's, unless it came after this copy of the ring.
bool RingFile::is_hole(std::uint64_t before, std::uint64_t after) const {
  if (before == 0 || after <= before + 1) return false;
  if (has_gaps_) return true;
  const std::uint64_t most = std::min(after - before - 1, header_.block_count);
  for (std::uint64_t i = 1; is_old_ && i <= most; ++i) {
    if (held(before + i) < before + i) return true;
  }
  return false;
}

void RingFile::count_overwritten() {
  std::fill(std::begin(overwritten_), std::end(overwritten_), 0);
  const std::vector<BlockPosition> ring = positions();
  note_held(ring);
  if (has_gaps_) return for_each_block([](const RingBlock&) {});
  if (spool_ != nullptr) return;
  for (const BlockPosition& position : ring) add_past(read_block_header(position.index), overwritten_);
}

std::uint64_t RingFile::count_records() {
  std::set<std::uint64_t> spooled;
  std::uint64_t records = 0;
  if (spool_ != nullptr) {
    for (const SpoolFile::ChunkPosition& position : spool_->positions()) {
      spooled.insert(position.ticket);
      records += position.events;
    }
  }
  std::uint64_t kinds[trace::kEventKinds] = {};
  RingBlock block;
  for (const BlockPosition& position : positions()) {
    const bool counts = !spooled.contains(position.ticket) && copy_block(position, block);
    if (counts) trace::count_events(block.payload.data(), block.payload.size(), kinds);
  }
  return std::accumulate(std::begin(kinds), std::end(kinds), records);
}

void RingFile::settle_overwritten() {
  for (std::size_t kind = 0; kind < trace::kEventKinds; ++kind) {
    overwritten_[kind] -= std::min(overwritten_[kind], saved_[kind]);
  }
}

// The spool was listed before the ring is: a block that it has and the ring has not was recycled, and counted so. Not
// in a copy of the ring, which may be older: there the ticket that its position holds says which it was.
void RingFile::for_each_block(const std::function<void(const RingBlock&)>& visit) {
  static const std::vector<SpoolFile::ChunkPosition> kNone;
  const std::vector<SpoolFile::ChunkPosition>& spooled = spool_ != nullptr ? spool_->positions() : kNone;
  const std::vector<BlockPosition> ring = positions();
  note_held(ring);
  RingBlock block;
  std::uint64_t last = 0;
  for (std::size_t r = 0, s = 0; r < ring.size() || s < spooled.size();) {
    const bool from_ring = r < ring.size() && (s == spooled.size() || ring[r].ticket <= spooled[s].ticket);
    const std::uint64_t ticket = from_ring ? ring[r].ticket : spooled[s].ticket;
    const bool twin = from_ring && s < spooled.size() && spooled[s].ticket == ticket;
    if (is_hole(last, ticket)) ++holes_;
    last = ticket;
    const bool whole = from_ring ? read_from_ring(ring[r], twin ? &spooled[s] : nullptr, block)
                                 : read_spooled(spooled[s], held(ticket) > ticket, block);
    r += from_ring;
    s += twin || !from_ring;
    if (!whole || block.payload.empty()) continue;
    read_definitions();
    visit(block);
  }
  settle_overwritten();
}

std::vector<std::string> RingFile::notes() const {
  std::vector<std::string> notes;
  if (!spool_problem_.empty()) notes.push_back(spool_problem_);
  if (static_cast<trace::SourceState>(header_.spool_state) == trace::SourceState::failed) {
    notes.push_back(fmt::format("the spool ended after {} bytes ({}): later records come from the ring",
                                header_.spooled_bytes, std::strerror(header_.spool_error)));
  }
  if (spool_ != nullptr && spool_->skipped_bytes() + damaged_chunks_ > 0) {
    notes.push_back(fmt::format("{}: {} blocks and {} bytes between blocks are damaged and were skipped",
                                spool_->path(), damaged_chunks_, spool_->skipped_bytes()));
  }
  if (header_.copied_real_ns != 0 && header_.closed_real_ns == 0) {
    notes.push_back(fmt::format("a copy of {} on {}, which is newer", header_.local_path, header_.host));
  }
  return notes;
}

}  // namespace cli
