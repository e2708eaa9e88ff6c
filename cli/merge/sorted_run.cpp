#include "cli/merge/sorted_run.h"

#include <fmt/format.h>

#include <cstring>

#include "cli/model/error.h"
#include "cli/read/merged_columns.h"

namespace cli {
namespace {

struct BlockHead {
  std::uint32_t count, raw_bytes, packed_bytes;
};

// Where a block that begins at `begin` ends: at its number of events, or once its arguments are long.
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
              "a temporary file reads other than it was written: the disk or the memory is faulty; "
              "set TMPDIR to another disk");
}

}  // namespace

SortedRun SortedRunWriter::write(const EventBatch& batch, const std::uint32_t* order, std::uint32_t clock) {
  SortedRun run{file_.bytes(), file_.bytes(), clock};
  for (std::size_t at = 0; at < batch.size();) {
    const std::size_t end = block_end(batch, order, at);
    run.end = write_block(batch, order, at, end).end;
    at = end;
  }
  return run;
}

SortedRun SortedRunWriter::write_block(const EventBatch& batch, const std::uint32_t* order, std::size_t begin, std::size_t end) {
  encode_events(batch, order, begin, end, raw_);
  zstd_.compress(raw_, packed_);
  const BlockHead head{static_cast<std::uint32_t>(end - begin), static_cast<std::uint32_t>(raw_.size()),
                       static_cast<std::uint32_t>(packed_.size())};
  packed_.insert(0, reinterpret_cast<const char*>(&head), sizeof(head));
  const std::uint64_t at = file_.append(packed_);
  return {at, at + packed_.size(), 0};
}

bool SortedRunCursor::next(ZstdDecompressor& zstd) {
  if (++at_ < batch_.size()) return true;
  if (run_.begin == run_.end) return false;
  load(zstd);
  at_ = 0;
  return true;
}

void SortedRunCursor::load(ZstdDecompressor& zstd) {
  std::string packed, raw;
  file_->read(run_.begin, sizeof(BlockHead), packed);
  BlockHead head;
  std::memcpy(&head, packed.data(), sizeof(head));
  file_->read(run_.begin + sizeof(head), head.packed_bytes, packed);
  run_.begin += sizeof(head) + head.packed_bytes;
  if (!zstd.decompress(packed, head.raw_bytes, raw)) broken_scratch();
  if (decode_events(raw, head.count, *shapes_, batch_) != nullptr) broken_scratch();
  if (fit_ == nullptr) return;
  for (Event& event : batch_.events()) event.start_ns = fit_->on_axis(event.start_ns);
}

}  // namespace cli
