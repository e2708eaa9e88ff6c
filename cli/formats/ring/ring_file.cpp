#include "cli/formats/ring/ring_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <optional>
#include <unordered_map>

#include "cli/base/files.h"
#include "cli/base/error.h"
#include "cli/formats/ring/ring_header.h"
#include "common/record.h"

namespace cli {
namespace {

constexpr std::uint64_t kMostBlocks = 1u << 26;
constexpr std::uint64_t kUnusedInRow = 256;  // behind these no block of a ring is in use: more threads do not claim at one moment

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

// A living process copies again within ten minutes.
bool is_fresh(std::uint64_t copied_real_ns) {
  constexpr std::int64_t kFresh_ns = 900'000'000'000;
  using namespace std::chrono;
  const std::int64_t now = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  return now - static_cast<std::int64_t>(copied_real_ns) < kFresh_ns;
}

// Of a copy, made on this machine: the lock is where the ring lies. Another user's, or in another container, it cannot
// be asked, and all that we have is the copy's age.
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

// No magic is no header: of a file without one, or of one whose writer died while making it, nothing is recovered.
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
    bad(path_, 16, fmt::format("needs features {:#x} that this tracetool lacks; use a newer version", header_.features));
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
  blocks_here_ = std::min(blocks_here_, (behind + header_.block_bytes - header_.block_header_bytes) / header_.block_bytes);
  header_.host[sizeof(header_.host) - 1] = header_.boot_id[sizeof(header_.boot_id) - 1] = '\0';
  header_.run_id[sizeof(header_.run_id) - 1] = header_.program[sizeof(header_.program) - 1] = '\0';
  header_.local_path[sizeof(header_.local_path) - 1] = '\0';
  header_.agent_version[sizeof(header_.agent_version) - 1] = header_.cupti_path[sizeof(header_.cupti_path) - 1] = '\0';
}

// Closed is read again after the lock was found free: the writer closes the recording before it lets go of it.
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

// What was added since the last time. After the blocks that use it: a definition is whole before it is referred to.
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
  return fmt::format("byte {}: the file ends here, but {} bytes were written: {} of its {} blocks in use are missing, and the events "
                     "overwritten in them are unknown; copy it again",
                     file_bytes_, header_.file_bytes, used - std::min(used, whole), used);
}

// What the end of the file cuts off is no block, unless it was not in use.
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
  // In the order in which they are claimed. Behind the last ticket there are none but those that were claimed since it was read.
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
  std::sort(found.begin(), found.end(), [](const BlockPosition& a, const BlockPosition& b) { return a.ticket < b.ticket; });
  return found;
}

// Apart from the rest of the header, and before or after it: the order is what tells a whole block.
std::uint64_t RingFile::read_generation(std::uint64_t index) const {
  std::uint64_t generation;
  read_at(&generation, sizeof(generation), block_offset(index) + offsetof(trace::BlockHeader, generation));
  trace::SharedMemory::load_load_barrier();
  return generation;
}

// False: the block is being replaced, or was, since its position was looked up or while we copied. The counts are right in
// either case.
bool RingFile::copy_block(const BlockPosition& position, RingBlock& block) const {
  const std::uint64_t index = position.index;
  const std::uint64_t generation = read_generation(index);
  block.header = read_block_header(index);
  if (generation % 2 != 0 || block.header.generation != generation || block.header.ticket != position.ticket) return false;
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
  std::unordered_map<std::uint32_t, bool> has_others;  // by the writing thread: events of other kinds
  RingBlock block;
  for (const BlockPosition& position : positions()) {
    const std::uint32_t tid = read_block_header(position.index).tid;
    bool& skips = has_others.try_emplace(tid, tid == 0).first->second;
    if (skips || !copy_block(position, block)) continue;
    walk_records(block.payload, [&](std::size_t at, std::uint8_t kind, std::size_t size) {
      const auto is = [&](trace::RecordKind other) { return kind == static_cast<std::uint8_t>(other); };
      skips = skips || (trace::is_event(kind) && !is(trace::ClockRecord::kKind) && !is(trace::NoticeRecord::kKind));
      if (!is(trace::ClockRecord::kKind)) return;
      const auto record = record_at<trace::ClockRecord>(block.payload, at, size);
      samples.push_back({record.cupti_ns, record.mono_ns, record.real_ns, record.uncertainty_ns});
    });
  }
  return samples;
}

}  // namespace cli
