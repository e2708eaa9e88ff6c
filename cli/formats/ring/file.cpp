#include "cli/formats/ring/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>

#include "cli/base/error.h"
#include "cli/base/files.h"
#include "cli/formats/ring/header.h"
#include "common/record.h"

namespace cli::ring {

namespace {

constexpr std::uint64_t kMostBlocks = 1u << 26;
// After this number of unused blocks there are no used ones, because fewer threads claim blocks at once
constexpr std::uint64_t kUnusedInRow = 256;

[[noreturn]] void bad(const std::string& path, std::uint64_t offset, const std::string& what) {
  throw Error(Exit::bad_content, fmt::format("{}: byte {}: {}", path, offset, what));
}

std::string own_boot_id() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
  return id;
}

bool is_locked(int file) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

// A living process makes a new copy within ten minutes.
bool is_fresh(std::uint64_t copied_real_ns) {
  constexpr std::int64_t kFresh_ns = 900'000'000'000;
  using namespace std::chrono;
  const std::int64_t now = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  return now - static_cast<std::int64_t>(copied_real_ns) < kFresh_ns;
}

// For a copy made on this machine: the lock is on the original ring. If that belongs to another user or is in another
// container, it cannot be checked, and only the age of the copy is known.
RecordingState state_elsewhere(const trace::FileHeader& header) {
  const int ring = open(header.local_path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (ring < 0) return is_fresh(header.copied_real_ns) ? RecordingState::unknown : RecordingState::recovered;
  const bool locked = is_locked(ring);
  close(ring);
  return locked ? RecordingState::live : RecordingState::recovered;
}

}  // namespace

RingFile::RingFile(const std::string& path) : path_(path) {
  file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) throw Error(Exit::cannot_open, fmt::format("{}: cannot open: {}", path, std::strerror(errno)));
  try {
    struct stat info;
    fstat(file_, &info);
    file_bytes_ = static_cast<std::uint64_t>(info.st_size);
    if (file_bytes_ < trace::kHeaderBytes) {
      bad(path_, file_bytes_,
          fmt::format("the file ends within the header of {} bytes; copy it again", trace::kHeaderBytes));
    }
    read_at(&header_, sizeof(header_), 0);
    recover_if_destroyed();
    check_header();
    find_state();
    open_spool();
    read_definitions();
  } catch (...) {
    close(file_);
    throw;
  }
}

RingFile::~RingFile() { close(file_); }

void RingFile::read_at(void* to, std::size_t bytes, std::uint64_t offset) const {
  const std::size_t got = cli::read_at(file_, to, bytes, offset);
  if (got < bytes) bad(path_, offset + got, errno == 0 ? "the file ends here; copy it again" : std::strerror(errno));
}

void RingFile::check_room(const char* what, std::uint64_t offset, std::uint64_t bytes) const {
  if (offset % 8 != 0 || offset > header_.file_bytes || bytes > header_.file_bytes - offset) {
    bad(path_, 0,
        fmt::format("the header places the {} at {} + {} in a file of {} bytes", what, offset, bytes,
                    header_.file_bytes));
  }
}

// A file without the magic has no header: if the header was never written, or its writer died while writing it, nothing
// is recovered.
void RingFile::recover_if_destroyed() {
  constexpr char kDestroyed[sizeof(trace::kMagic)] = {};
  if (std::memcmp(header_.magic, kDestroyed, sizeof(kDestroyed)) != 0) return;
  const std::optional<trace::FileHeader> found = recover_header(file_, file_bytes_, path_);
  if (!found) return;
  header_ = *found;
  std::memcpy(header_.magic, trace::kMagic, sizeof(trace::kMagic));
  is_recovered_ = true;
}

void RingFile::check_header() {
  if (std::memcmp(header_.magic, trace::kMagic, sizeof(trace::kMagic)) != 0) {
    bad(path_, 0, "not a recording (no magic), or its process died while creating it; it contains no events");
  }
  if (header_.version != trace::kFormatVersion) {
    bad(path_, 8,
        fmt::format("format version {}, but this tracetool reads {}; use the tracetool that came with the agent",
                    header_.version, trace::kFormatVersion));
  }
  if ((header_.features & ~trace::kKnownFeatures) != 0) {
    bad(path_, 16,
        fmt::format("needs features {:#x} that this tracetool lacks; use a newer version", header_.features));
  }
  const bool sane = header_.block_header_bytes >= sizeof(trace::BlockHeader) && header_.block_header_bytes % 8 == 0 &&
                    header_.block_bytes > header_.block_header_bytes && header_.block_bytes % 8 == 0 &&
                    header_.block_bytes <= (1u << 30) && header_.block_count <= kMostBlocks;
  if (!sane) bad(path_, 56, "impossible block sizes; the header is damaged");
  check_room("definitions", header_.definitions_offset, header_.definitions_bytes);
  check_room("blocks", header_.blocks_offset, header_.block_bytes * header_.block_count);
  blocks_here_ = header_.block_count;
  if (file_bytes_ >= header_.file_bytes) return;
  const std::uint64_t behind = file_bytes_ - std::min(file_bytes_, header_.blocks_offset);
  blocks_here_ =
      std::min(blocks_here_, (behind + header_.block_bytes - header_.block_header_bytes) / header_.block_bytes);
  header_.host[sizeof(header_.host) - 1] = header_.boot_id[sizeof(header_.boot_id) - 1] = '\0';
  header_.run_id[sizeof(header_.run_id) - 1] = header_.program[sizeof(header_.program) - 1] = '\0';
  header_.local_path[sizeof(header_.local_path) - 1] = '\0';
  header_.agent_version[sizeof(header_.agent_version) - 1] = header_.cupti_path[sizeof(header_.cupti_path) - 1] = '\0';
}

// The closed state is read again after the lock was found free, because the writer closes the recording before it
// releases the lock.
void RingFile::find_state() {
  if (is_recovered_) return;
  const bool locked = header_.closed_real_ns == 0 && is_locked(file_);
  if (!locked) read_at(&header_.closed_real_ns, sizeof(std::uint64_t), offsetof(trace::FileHeader, closed_real_ns));
  if (header_.closed_real_ns != 0) {
    state_ = RecordingState::clean;
  } else if (locked) {
    state_ = RecordingState::live;
  } else if (header_.boot_id == own_boot_id()) {
    state_ = header_.copied_real_ns != 0 ? state_elsewhere(header_) : RecordingState::recovered;
  }
}

// Reads definitions added since the last call. Called after reading the blocks that use them: a definition is complete
// before it is referenced.
void RingFile::read_definitions() {
  std::uint64_t used = header_.definitions_used;
  if (!is_recovered_) read_at(&used, sizeof(used), offsetof(trace::FileHeader, definitions_used));
  if (used > header_.definitions_bytes) bad(path_, 912, "more definitions than fit in their region");
  used = std::min(used, file_bytes_ - std::min(file_bytes_, header_.definitions_offset));
  const std::size_t known = definitions_.size();
  if (used <= known) return;
  definitions_.resize(used);
  read_at(definitions_.data() + known, used - known, header_.definitions_offset + known);
  if (is_cut()) definitions_.resize(walk_records(definitions_, [](std::size_t, std::uint8_t, std::size_t) {}));
}

std::string RingFile::cut_text() const {
  if (is_recovered_) {
    return "byte 0: the header is destroyed, so these are unknown: host, process, program, how it ended, and losses of "
           "CUPTI or the recorder; copy the file again if an intact one exists";
  }
  if (!is_cut()) return {};
  const std::uint64_t used = std::min(header_.claimed_blocks, header_.block_count);
  const auto here = positions();
  const std::uint64_t whole = static_cast<std::uint64_t>(std::count_if(
      here.begin(), here.end(), [&](const BlockPosition& position) { return is_whole_in_file(position.index); }));
  return fmt::format(
      "byte {}: the file ends here, but {} bytes were written: {} of its {} blocks in use are missing, and the events "
      "overwritten in them are unknown; copy it again",
      file_bytes_, header_.file_bytes, used - std::min(used, whole), used);
}

// A block that is cut by the end of the file does not count, unless it was unused.
bool RingFile::is_whole_in_file(std::uint64_t index) const {
  const std::uint64_t committed = read_block_header(index).committed;
  const std::uint64_t most = header_.block_bytes - header_.block_header_bytes;
  return block_offset(index) + header_.block_header_bytes + std::min(committed, most) <= file_bytes_;
}

std::uint64_t RingFile::block_offset(std::uint64_t index) const {
  return header_.blocks_offset + index * header_.block_bytes;
}

trace::BlockHeader RingFile::read_block_header(std::uint64_t index) const {
  trace::BlockHeader header;
  read_at(&header, sizeof(header), block_offset(index));
  return header;
}

std::vector<RingFile::BlockPosition> RingFile::positions() const {
  // Sorted by ticket. Later tickets belong only to blocks claimed since then.
  std::vector<BlockPosition> found;
  std::uint64_t unused = 0;
  for (std::uint64_t ticket = 1; ticket <= header_.block_count && unused < kUnusedInRow; ++ticket) {
    const std::uint64_t index = ticket % header_.block_count;
    const trace::BlockHeader header = index < blocks_here_ ? read_block_header(index) : trace::BlockHeader{};
    if (header.generation != 0) {
      found.push_back({header.ticket, index});
      unused = 0;
    } else {
      unused += ticket > header_.claimed_blocks;
    }
  }
  std::sort(found.begin(), found.end(),
            [](const BlockPosition& a, const BlockPosition& b) { return a.ticket < b.ticket; });
  return found;
}

// The generation is read separately, before or after the rest of the header, because the order proves that a block is
// complete.
std::uint64_t RingFile::read_generation(std::uint64_t index) const {
  std::uint64_t generation;
  read_at(&generation, sizeof(generation), block_offset(index) + offsetof(trace::BlockHeader, generation));
  trace::SharedMemory::load_load_barrier();
  return generation;
}

// Returns false if the block is or was being replaced since its position was found or during the copy. The counters are
// valid in both cases.
bool RingFile::copy_block(const BlockPosition& position, RingBlock& block) const {
  const std::uint64_t index = position.index;
  const std::uint64_t generation = read_generation(index);
  block.header = read_block_header(index);
  if (generation % 2 != 0 || block.header.generation != generation || block.header.ticket != position.ticket)
    return false;
  const std::uint64_t most = header_.block_bytes - header_.block_header_bytes;
  block.offset = block_offset(index) + header_.block_header_bytes;
  if (block.header.committed > most || !is_whole_in_file(index)) return false;
  block.payload.resize(block.header.committed);
  read_at(block.payload.data(), block.payload.size(), block.offset);
  trace::SharedMemory::load_load_barrier();
  return read_generation(index) == generation;
}

std::vector<trace::ClockSample> RingFile::clock_samples() {
  std::vector<trace::ClockSample> samples{header_.created_clock};
  if (spool_ != nullptr) samples.insert(samples.end(), spool_->clock_samples().begin(), spool_->clock_samples().end());
  for (const BlockPosition& position : positions()) {
    const std::uint64_t generation = read_generation(position.index);
    const trace::ClockSample sample = read_block_header(position.index).clock;
    if (generation % 2 == 0 && read_generation(position.index) == generation) samples.push_back(sample);
  }
  return samples;
}

std::vector<trace::ClockSample> RingFile::clock_records() const {
  std::vector<trace::ClockSample> samples;
  std::unordered_map<std::uint32_t, bool> has_others;  // by writing thread: has events of other kinds
  RingBlock block;
  for (const BlockPosition& position : positions()) {
    const std::uint32_t tid = read_block_header(position.index).tid;
    bool& skips = has_others.try_emplace(tid, tid == 0).first->second;
    if (skips || !copy_block(position, block)) continue;
    walk_records(block.payload, [&](std::size_t at, std::uint8_t kind, std::size_t size) {
      skips = skips || (trace::is_event(kind) && !trace::is_by_agent(kind));
      if (kind != static_cast<std::uint8_t>(trace::ClockRecord::kKind)) return;
      const auto record = record_at<trace::ClockRecord>(block.payload, at, size);
      samples.push_back({record.cupti_ns, record.mono_ns, record.real_ns, record.uncertainty_ns});
    });
  }
  return samples;
}

// The blocks of a recording in order: those of the ring, and those that only its spool still has.

namespace {

void add_past(const trace::BlockHeader& block, std::uint64_t (&sums)[trace::kEventKinds]) {
  const std::uint64_t* past = block.overwritten[trace::overwritten_index(block.generation)];
  for (std::size_t kind = 0; kind < trace::kEventKinds; ++kind) sums[kind] += past[kind];
}

}  // namespace

// If the spool is missing or belongs to another ring, only its content is missing; the ring is still read.
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
  is_old_ = std::any_of(spooled.begin(), spooled.end(), [&](const SpoolFile::ChunkPosition& position) {
    return held(position.ticket) < position.ticket;
  });
  has_gaps_ = has_gaps(ring);
}

// `counted` is true if the ring counts it as overwritten.
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

// `twin` is the same block in the spool, or null. The longer one is used.
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

// Returns true if blocks were overwritten before they were spooled, as far as this ring shows.
bool RingFile::has_gaps(const std::vector<BlockPosition>& ring) const {
  std::uint64_t past[trace::kEventKinds] = {}, saved = 0;
  for (const BlockPosition& position : ring) add_past(read_block_header(position.index), past);
  const std::uint64_t gone = std::accumulate(std::begin(past), std::end(past), std::uint64_t{0});
  for (const SpoolFile::ChunkPosition& position : spool_->positions()) {
    if (held(position.ticket) > position.ticket) saved += position.events;
  }
  return gone > saved;
}

// Returns true if records may be missing between two successive blocks. If nothing was overwritten, a missing ticket
// never belonged to a block, unless it is newer than this copy of the ring.
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

// The spool was listed before the ring. A block in the spool that is not in the ring was therefore recycled, and
// counted. This does not hold for a copy of the ring, which may be older; there the ticket in its position decides.
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

}  // namespace cli::ring
