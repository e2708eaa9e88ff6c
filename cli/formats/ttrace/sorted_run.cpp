#include "cli/formats/ttrace/sorted_run.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "cli/base/error.h"
#include "cli/formats/ttrace/columns.h"

namespace cli::ttrace {
namespace {

constexpr std::size_t kStretchBytes = 1 << 20;

struct BlockHead {
  std::uint32_t count, raw_bytes, packed_bytes;
};

// Returns the end of a block that begins at `begin`: limited by the number of events and the size of arguments.
std::size_t block_end(const EventBatch& batch, const std::uint32_t* order, std::size_t begin) {
  std::size_t args = 0, at = begin;
  while (at < batch.size() && at - begin < kBlockEvents && args < kBlockArgs) {
    args += batch.args(order != nullptr ? order[at] : at).size();
    ++at;
  }
  return at;
}

[[noreturn]] void broken_scratch() {
  throw Error(Exit::cannot_open,
              "a temporary file differs from the data written to it: the disk or the memory is faulty; "
              "set TMPDIR to another disk");
}

}  // namespace

void SortedRunWriter::add(const EventBatch& batch, const std::uint32_t* order) {
  for (std::size_t at = 0; at < batch.size();) {
    const std::size_t end = block_end(batch, order, at);
    add_block(batch, order, at, end);
    at = end;
  }
}

void SortedRunWriter::add_block(const EventBatch& batch, const std::uint32_t* order, std::size_t begin,
                                std::size_t end) {
  encode_events(batch, order, begin, end, raw_);
  zstd_.compress(raw_, packed_);
  const BlockHead head{static_cast<std::uint32_t>(end - begin), static_cast<std::uint32_t>(raw_.size()),
                       static_cast<std::uint32_t>(packed_.size())};
  stretch_.append(reinterpret_cast<const char*>(&head), sizeof(head)).append(packed_);
  if (stretch_.size() >= kStretchBytes) write_stretch();
}

void SortedRunWriter::write_stretch() {
  const std::uint64_t at = file_.append(stretch_);
  run_.stretches.push_back({at, at + stretch_.size()});
  stretch_.clear();
}

SortedRun SortedRunWriter::finish() {
  if (!stretch_.empty()) write_stretch();
  return std::move(run_);
}

bool SortedRunCursor::next(ZstdDecompressor& zstd) {
  if (++at_ < batch_.size()) return true;
  if (stretch_ == run_->stretches.size()) return false;
  load(zstd);
  at_ = 0;
  return true;
}

void SortedRunCursor::load(ZstdDecompressor& zstd) {
  const SortedRun::Stretch& stretch = run_->stretches[stretch_];
  const std::uint64_t at = stretch.begin + read_bytes_;
  std::string packed, raw;
  file_->read(at, sizeof(BlockHead), packed);
  BlockHead head;
  std::memcpy(&head, packed.data(), sizeof(head));
  file_->read(at + sizeof(head), head.packed_bytes, packed);
  read_bytes_ += sizeof(head) + head.packed_bytes;
  if (stretch.begin + read_bytes_ >= stretch.end) {
    ++stretch_;
    read_bytes_ = 0;
  }
  if (!zstd.decompress(packed, head.raw_bytes, raw)) broken_scratch();
  if (decode_events(raw, head.count, *shapes_, batch_) != nullptr) broken_scratch();
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    if (ids_ != nullptr && !ids_->translate(batch_, i)) broken_scratch();
    axis_.place(batch_.events()[i]);
  }
}

}  // namespace cli::ttrace
