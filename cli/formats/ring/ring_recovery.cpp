#include "cli/formats/ring/ring_recovery.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "cli/base/read_at.h"
#include "cli/formats/ring/ring_file.h"
#include "common/ring_division.h"

namespace cli {
namespace {

constexpr std::uint64_t kSmallestRing = 64u << 10;

struct Blocks {
  std::uint64_t used = 0, wrong = 0, newest_ticket = 0;
  trace::ClockSample oldest{}, newest{};
};

// A block lies where its ticket puts it, and claims no more bytes than it has.
bool is_possible(const trace::BlockHeader& block, std::uint64_t index, const trace::FileHeader& header) {
  return block.ticket != 0 && block.ticket % header.block_count == index && block.committed % 8 == 0 &&
         block.committed <= header.block_bytes - header.block_header_bytes;
}

Blocks look_at_blocks(int file, const trace::FileHeader& header) {
  Blocks found;
  for (std::uint64_t index = 0; index < header.block_count; ++index) {
    trace::BlockHeader block;
    const std::uint64_t offset = header.blocks_offset + index * header.block_bytes;
    if (read_at(file, &block, sizeof(block), offset) != sizeof(block)) break;
    if (block.generation == 0) continue;
    ++found.used;
    if (!is_possible(block, index, header)) {
      ++found.wrong;
      continue;
    }
    found.newest_ticket = std::max(found.newest_ticket, block.ticket);
    const trace::ClockSample& clock = block.clock;
    if (clock.real_ns == 0) continue;
    if (found.oldest.real_ns == 0 || clock.real_ns < found.oldest.real_ns) found.oldest = clock;
    if (clock.real_ns > found.newest.real_ns) found.newest = clock;
  }
  return found;
}

std::uint64_t used_definitions(int file, const trace::FileHeader& header) {
  std::vector<std::byte> region(header.definitions_bytes);
  region.resize(read_at(file, region.data(), region.size(), header.definitions_offset));
  return walk_records(region, [](std::size_t, std::uint8_t, std::size_t) {});
}

trace::FileHeader divided(std::uint64_t ring_bytes) {
  trace::FileHeader header{};
  trace::divide_ring(header, ring_bytes);
  header.version = trace::kFormatVersion;
  header.header_bytes = trace::kHeaderBytes;
  header.block_header_bytes = sizeof(trace::BlockHeader);
  return header;
}

// Most sizes of rings give a file of another length; those that give this one differ in how much is for definitions.
std::optional<trace::FileHeader> find_division(int file, std::uint64_t file_bytes, Blocks& blocks) {
  std::uint64_t tried = 0;  // definitions_bytes of the last one
  for (std::uint64_t more = 0; more < trace::kLargestBlock; ++more) {
    const trace::FileHeader header = divided(file_bytes + more);
    if (header.file_bytes != file_bytes || std::exchange(tried, header.definitions_bytes) == header.definitions_bytes) continue;
    blocks = look_at_blocks(file, header);
    if (blocks.used > 0 && blocks.wrong == 0) return header;
  }
  return {};
}

}  // namespace

bool is_ring_without_header(std::string_view first_bytes) {
  if (first_bytes.size() <= trace::kHeaderBytes || first_bytes.find_first_not_of('\0') != trace::kHeaderBytes) return false;
  const std::string_view behind = first_bytes.substr(trace::kHeaderBytes);
  return static_cast<std::uint8_t>(behind[0]) < trace::kFirstEventKind;
}

std::optional<trace::FileHeader> recover_header(int file, std::uint64_t file_bytes, const std::string& path) {
  if (file_bytes < kSmallestRing) return {};
  Blocks blocks;
  std::optional<trace::FileHeader> header = find_division(file, file_bytes, blocks);
  if (!header) return {};
  header->definitions_used = used_definitions(file, *header);
  header->claimed_blocks = blocks.newest_ticket;
  header->created_clock = blocks.oldest;
  header->created_real_ns = blocks.oldest.real_ns;
  header->heartbeat_real_ns = blocks.newest.real_ns;
  std::error_code ignored;
  const std::string directory = std::filesystem::absolute(path, ignored).parent_path().filename();
  directory.copy(header->run_id, sizeof(header->run_id) - 1);
  return header;
}

}  // namespace cli
